// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Root profiles a host on which somebody runs files that are made to harm whoever reads their
 * names.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <criterion/criterion.h>

#include "attach.h"
#include "doc_callers.h"
#include "hostile.h"
#include "live.h"
#include "need.h"
#include "shared/callers_abi.h"
#include "test_burn_fixture.h"

/* Names in files of a few pages must not take more memory than this. */
#define SPENT_KIB (256L << 10)

TestSuite(hostile_files, .timeout = 170);

static struct live live;
static char offset[32];
static char honest[128];
static char files[HOSTILE_KINDS][128];

static void setup(void)
{
	int kind;

	NEED_ROOT();
	live_begin(&live);
	burn_offset(offset, sizeof(offset));
	snprintf(honest, sizeof(honest), "%s", live_path(&live, "honest.so"));
	child_do(ARGS("cp", BURN, honest));
	for (kind = 0; kind < HOSTILE_KINDS; kind++) {
		hostile_make(BURN, live.dir, (enum hostile_kind)kind);
		snprintf(files[kind], sizeof(files[kind]), "%s/%s", live.dir,
			 hostile_name((enum hostile_kind)kind));
	}
}

static void teardown(void)
{
	live_end(&live);
}

/* The peak memory of the children that have ended. */
static long peak_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return usage.ru_maxrss;
}

enum { COMMAND_WORDS = 4 + HOSTILE_KINDS + 1 };

static void fill_command(const char *command[COMMAND_WORDS], bool hostile)
{
	int i;

	memset(command, 0, COMMAND_WORDS * sizeof(*command));
	command[0] = MAPPED;
	command[1] = offset;
	command[2] = BURN_COUNT;
	command[3] = honest;
	for (i = 0; hostile && i < HOSTILE_KINDS; i++)
		command[4 + i] = files[i];
}

/* Makes root's profile of the whole host while all of them, or only the honest one, run. */
static void profile(bool hostile)
{
	const char *command[COMMAND_WORDS];
	struct child_end end;
	struct child child;

	fill_command(command, hostile);
	attach_start(&live, &child, ARGS(FAST, "--all"));
	child_run(&end, NULL, command);
	cr_assert_eq(end.status, 0, "%s", end.err);
	child_end_free(&end);
	attach_end(&live, &child, SIGINT);
}

static void check_honest(void)
{
	uint64_t ticks = doc_object(live.doc, "file", "/honest.so");

	cr_expect_gt(ticks, 100);
	cr_expect_eq(doc_function(live.doc, "burn", "/honest.so"), ticks);
}

static int count_notes(const char *beginning)
{
	struct json_object *notes = doc_get(live.doc, "notes");
	size_t i, nr = 0;

	for (i = 0; i < json_object_array_length(notes); i++)
		nr += !strncmp(json_object_get_string(json_object_array_get_idx(notes, i)),
			       beginning, strlen(beginning));
	return (int)nr;
}

/* The other programs get their names, at no higher cost. */
Test(hostile_files, beside_others, .init = setup, .fini = teardown)
{
	long before;
	int kind;

	profile(false);
	check_honest();
	cr_expect_eq(count_notes("no names of /"), 0);
	before = peak_kib();
	profile(true);
	check_honest();
	cr_expect_eq(count_notes("no names of /"), 1);
	for (kind = 0; kind < HOSTILE_KINDS; kind++)
		cr_expect_gt(doc_object(live.doc, "file", files[kind]), 100, "%s", files[kind]);
	cr_expect_lt(peak_kib() - before, SPENT_KIB);
}

/* Their rules are read while they run, in turn with those of others. */
Test(hostile_files, with_callers, .init = setup, .fini = teardown)
{
	const char *command[COMMAND_WORDS];
	long before = peak_kib();
	int kind;

	fill_command(command, true);
	live_run(&live, ARGS(FAST, "--callers"), command);
	check_honest();
	doc_assert_callers(live.doc);
	for (kind = 0; kind < HOSTILE_KINDS; kind++)
		cr_expect_gt(doc_object(live.doc, "file", files[kind]), 100, "%s", files[kind]);
	cr_expect_gt(doc_called(live.doc, "burn", "main"), 100);
	cr_expect_lt(peak_kib() - before, SPENT_KIB);
}

static void check_command(const char *const command[], const char *wanted)
{
	struct child_end end;

	child_run(&end, NULL, command);
	cr_expect_eq(end.status, 0, "%s: %s", command[1], end.err);
	if (wanted)
		cr_expect(strstr(end.out, wanted), "%s: %s", command[1], end.out);
	child_end_free(&end);
}

/* A reader of the profile reads the files again, and their debug information. */
Test(hostile_files, read_later, .init = setup, .fini = teardown)
{
	const char *command[COMMAND_WORDS];
	char place[256];
	long before;
	int kind;

	/* Of all the host there might be larger files to read. */
	fill_command(command, true);
	live_run(&live, ARGS(FAST), command);
	before = peak_kib();
	check_command(ARGS(BPFPROFIL_BIN, "report", "--by", "lines", live.profile), "burn.c:");
	check_command(ARGS(BPFPROFIL_BIN, "report", "--annotate", "honest.so:burn", live.profile),
		      "x * 0x5851f42d");
	for (kind = 0; kind < HOSTILE_KINDS; kind++) {
		snprintf(place, sizeof(place), "%.127s:%s", files[kind], offset);
		check_command(ARGS(BPFPROFIL_BIN, "report", "--annotate", place, live.profile),
			      NULL);
	}
	check_command(ARGS(BPFPROFIL_BIN, "export", "--format", "callgrind", live.profile),
		      "burn.c");
	check_command(ARGS(BPFPROFIL_BIN, "report", "--html", "-", live.profile), NULL);
	cr_expect_lt(peak_kib() - before, SPENT_KIB);
}

static void expect_outside(const char *place, const char *before)
{
	live_run(&live, ARGS(FAST, "--callers", "--waits"),
		 ARGS(WORKLOAD("farcode"), place, "10000", before));
	cr_expect_gt((double)doc_number(live.doc, "ticks.outside"),
		     0.7 * (double)doc_number(live.doc, "ticks.total"), "%s %s", place, before);
	cr_expect_gt(doc_number(live.doc, "ticks.total"), 100);
}

/* A file as large as one likes has code where its offset does not fit into a place. It is outside of all text. */
Test(hostile_files, code_beyond_all_places, .init = setup, .fini = teardown)
{
	const uint64_t texts = 1ULL << SITE_TEXT_BITS;
	char at[32];
	uint64_t i;

	/* With a number from 6 on, these were other texts: the next one, and those that are no files. */
	for (i = 0; i < 6; i++) {
		snprintf(at, sizeof(at), "%llu",
			 (unsigned long long)(i ? texts - i : 1) << SITE_OFFSET_BITS);
		expect_outside(at, "0");
	}
	/* The length of this mapping in pages has more than 32 bits. */
	snprintf(at, sizeof(at), "%llu", 1ULL << SITE_OFFSET_BITS);
	expect_outside(at, "17592186044416");
}
