// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* Ticks and CPU time told apart by thread. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "host.h"
#include "live.h"
#include "need.h"

TestSuite(live_threads, .timeout = 180);

static bool is_named(struct json_object *item, const char *name)
{
	const char *its = json_object_get_string(doc_get(item, "process"));

	return its && !strcmp(its, name);
}

/* The only split with that name; its ticks and its CPU time agree. */
static void assert_split(struct json_object *doc, const char *name)
{
	struct json_object *splits = doc_get(doc, "splits");
	double ticks_ns = 0, cpu_ns = 0;
	size_t i, nr = 0;

	for (i = 0; i < json_object_array_length(splits); i++) {
		struct json_object *split = json_object_array_get_idx(splits, i);

		if (!is_named(split, name))
			continue;
		nr++;
		ticks_ns = (double)doc_number(split, "ticks") *
			   (double)doc_number(doc, "sampling.period_ns");
		cpu_ns = (double)doc_number(split, "cpu_ns");
	}
	cr_assert_eq(nr, 1, "%zu threads named %s", nr, name);
	cr_expect_gt(cpu_ns, 0);
	cr_expect_leq(fabs(ticks_ns - cpu_ns), (0.05 + host_stolen_part()) * cpu_ns + 5e6,
		      "%s: ticks of %.3f s for %.3f s", name, ticks_ns / 1e9, cpu_ns / 1e9);
}

/* All ticks in the function belong to one thread with that name. */
static void assert_alone(const char *profile, const char *name, const char *function,
			 const char *other)
{
	struct child_end end;

	child_run(&end, NULL, ARGS(BPFPROFIL_BIN, "report", "--comm", name, profile));
	cr_assert_eq(end.status, 0, "%s", end.err);
	cr_expect(strstr(end.out, function), "%s: %s", name, end.out);
	cr_expect_not(strstr(end.out, other), "%s: %s", name, end.out);
	child_end_free(&end);
}

/* Names that were set in the middle of the run apply to all of it. */
Test(live_threads, by_their_names)
{
	struct live live;

	NEED_ROOT();
	live_begin(&live);
	live_run(&live, ARGS(FAST, "--split", "thread"), ARGS(WORKLOAD("named"), "6000"));
	cr_expect_str_eq(json_object_get_string(doc_get(live.doc, "sampling.split")), "thread");
	assert_split(live.doc, "first");
	assert_split(live.doc, "second");
	assert_alone(live.profile, "first", "alpha", "beta");
	assert_alone(live.profile, "s?cond", "beta", "alpha");
	live_end(&live);
}

/* The account is exact while threads come and go. */
Test(live_threads, that_come_and_go)
{
	struct live live;

	NEED_ROOT();
	live_begin(&live);
	live_run(&live, ARGS(FAST, "--split", "thread"), ARGS(WORKLOAD("threads"), "8", "6000"));
	doc_assert_shares(live.doc, SHARES({ "alpha", 5 }, { "beta", 3 }, { "delta", 2 }), 0.95);
	live_end(&live);
}
