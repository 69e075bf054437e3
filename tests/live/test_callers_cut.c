// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* Chains through text that no rule describes, and those that lack frames: by which cause, and with which note. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "doc_callers.h"
#include "live.h"
#include "need.h"

#define NEARLY_ALL 0.97

TestSuite(live_callers_cut, .init = need_root, .timeout = 120);

static void expect_nearly_all(const struct live *live, uint64_t part, const char *what)
{
	uint64_t ticks = doc_number(live->doc, "ticks.total");

	cr_expect_gt(ticks, 100);
	cr_expect_geq((double)part, NEARLY_ALL * (double)ticks, "of %lu ticks only %lu %s: %s",
		      ticks, part, what, live->end.err);
}

/* A trampoline of python -X perf shows by its own code where it returns to. */
LIVE_TEST(live_callers_cut, trampoline_of_python)
{
	char map[64];

	NEED(live_run_timed(live, ARGS(FAST, "--callers"),
			    ARGS(WORKLOAD("jit"), "10000", "python")),
	     "no machine code for this machine");
	snprintf(map, sizeof(map), "/tmp/perf-%d.map", atoi(live->end.out));
	unlink(map);
	doc_assert_callers(live->doc);
	expect_nearly_all(live, doc_ended(live->doc, "complete"), "are complete");
	expect_nearly_all(live, doc_called(live->doc, "burn", "py::lookup:t.py"),
			  "have their caller");
	expect_nearly_all(live, doc_called(live->doc, "burn", "main"), "have main");
}

/* Up to main all is there, through a function that only its own code describes. */
LIVE_TEST(live_callers_cut, above_main)
{
	const struct share wanted[] = { { "first", 6 }, { "bare", 4 } };
	uint64_t ticks[2];

	live_run(live, ARGS(FAST, "--callers"), ARGS(WORKLOAD("shim"), "10000"));
	doc_assert_callers(live->doc);
	expect_nearly_all(live, doc_ended(live->doc, "above main"), "are cut above main");
	expect_nearly_all(live, doc_called(live->doc, "leaf", "main"), "have main");
	/* In the assembler code itself little of the time is spent. */
	cr_expect_leq(doc_ended(live->doc, "no rule"), doc_number(live->doc, "ticks.total") / 50);
	cr_expect(!strstr(live->end.err, "no callers above"), "%s", live->end.err);
	cr_expect(strstr(live->end.err, "cut above main "), "%s", live->end.err);
	ticks[0] = doc_called(live->doc, "leaf", "first");
	ticks[1] = doc_called(live->doc, "leaf", "bare");
	assert_ratio(2, wanted, ticks);
}

/* A recursion that is too deep counts for itself; one of 400 calls has all its callers. */
LIVE_TEST(live_callers_cut, deeper_than_is_followed)
{
	const struct share wanted[] = { { "first", 5 }, { "second", 5 } };
	uint64_t ticks[2], deep;

	live_run(live, ARGS("-F", "997", "--callers"),
		 ARGS(WORKLOAD("callers"), "deeper", "20000"));
	doc_assert_callers(live->doc);
	deep = doc_ended(live->doc, "deep");
	ticks[0] = doc_called(live->doc, "leaf", "first");
	ticks[1] = doc_called(live->doc, "leaf", "second");
	/* On an emulated CPU the walks up 512 frames take a fifth of the time, which is of first. */
	if (doc_emulated_part() == 0)
		assert_ratio(2, wanted, ticks);
	cr_expect_geq((double)deep, NEARLY_ALL * (double)ticks[0], "%lu of %lu", deep, ticks[0]);
	cr_expect_geq((double)doc_inclusive(live->doc, "main"), NEARLY_ALL * (double)ticks[1]);
	cr_expect_eq(doc_deepest(live->doc), 512);
	cr_expect(strstr(live->end.err,
			 "ticks are more than 512 frames deep, mostly in a recursion "
			 "of first: they count for it, and not for what called it "
			 "first"),
		  "%s", live->end.err);
}

LIVE_TEST(live_callers_cut, program_of_32_bits)
{
	NEED(system(WORKLOAD("narrow")) == 0, "a kernel that runs 32-bit programs");
	live_run(live, ARGS(FAST, "--callers"), ARGS(WORKLOAD("narrow")));
	doc_assert_callers(live->doc);
	expect_nearly_all(live, doc_ended(live->doc, "32-bit"), "are of a 32-bit program");
	cr_expect(strstr(live->end.err, "are of 32-bit programs, whose callers are not followed"),
		  "%s", live->end.err);
}

/*
 * So many copies of a program do not fit (12 of Ubuntu's bash do); what begins beside them has its callers when they
 * have ended and five swaps have freed their room, which take 1/20 of the session's time.
 */
static const char many_files[] =
	"d=$(mktemp -d) || exit\n"
	"for i in $(seq 20) last; do\n"
	"	cp /bin/bash $d/$i\n"
	"done\n"
	"for i in $(seq 20); do\n"
	"	timeout 2 $d/$i -c 'while :; do :; done' &\n"
	"done\n"
	"sleep 1\n"
	"$d/last -c 'while ((SECONDS < 9 * ${SPIN_SLOWNESS:-1})); do :; done'\n"
	"rm -r $d\n";

LIVE_TEST(live_callers_cut, files_that_found_no_room)
{
	uint64_t full;

	live_run(live, ARGS("--callers", "--memory", "2M"), ARGS("/bin/sh", "-c", many_files));
	doc_assert_callers(live->doc);
	full = doc_ended(live->doc, "full");
	cr_expect_gt(full, 0, "the copies fit: %s", live->end.err);
	cr_expect_lt(full, doc_number(live->doc, "ticks.total") / 2, "%s", live->end.err);
}
