// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* Ticks and CPU time told apart by thread. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "host.h"
#include "live.h"
#include "need.h"

TestSuite(live_threads, .init = need_root, .timeout = 180);

static bool is_named(struct json_object *item, const char *name)
{
	const char *its = json_object_get_string(json_object_object_get(item, "process"));

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
LIVE_TEST(live_threads, by_their_names)
{
	live_run(live, ARGS(FAST, "--split", "thread"), ARGS(WORKLOAD("named"), "6000"));
	cr_expect_str_eq(json_object_get_string(doc_get(live->doc, "sampling.split")), "thread");
	assert_split(live->doc, "first");
	assert_split(live->doc, "second");
	assert_alone(live->profile, "first", "alpha", "beta");
	assert_alone(live->profile, "s?cond", "beta", "alpha");
}

/*
 * The kernel tells us of a name just before it sets it. A tick in between must not leave the thread
 * with the name of its creator, as it did to 27 to 42 of these 6,000.
 */
LIVE_TEST(live_threads, named_at_once)
{
	live_run(live, ARGS("-F", "20000", "--force", "--split", "thread"),
		 ARGS(WORKLOAD("named"), "1", "6000"));
	cr_expect_gt(doc_splits_named(live->doc, "process", "later").nr, 1000);
	cr_expect_leq(doc_splits_named(live->doc, "process", "named").nr, 5);
}

/* The account is exact while threads come and go. */
LIVE_TEST(live_threads, that_come_and_go)
{
	live_run(live, ARGS(FAST, "--split", "thread"), ARGS(WORKLOAD("threads"), "8", "6000"));
	doc_assert_shares(live->doc, SHARES({ "alpha", 5 }, { "beta", 3 }, { "delta", 2 }), 0.95);
}

/* The ticks of all histograms of a thread or process. */
static uint64_t ticks_of_pid(struct json_object *doc, int64_t pid)
{
	struct json_object *histograms = doc_get(doc, "histograms"), *histogram, *bins;
	uint64_t ticks = 0;
	size_t i, j;

	for (i = 0; i < json_object_array_length(histograms); i++) {
		histogram = json_object_array_get_idx(histograms, i);
		bins = doc_get(histogram, "bins");
		if (json_object_get_int64(doc_get(histogram, "pid")) != pid)
			continue;
		for (j = 0; j < json_object_array_length(bins); j++)
			ticks += json_object_get_uint64(
				json_object_array_get_idx(json_object_array_get_idx(bins, j), 1));
	}
	return ticks;
}

/*
 * Each thread has the ticks that its split says, but for those that are in no bin, whose number the
 * account has.
 */
static void assert_bins_of_splits(struct json_object *doc)
{
	struct json_object *splits = doc_get(doc, "splits"), *split;
	uint64_t ticks, binned, missing = 0;
	size_t i;

	for (i = 0; i < json_object_array_length(splits); i++) {
		split = json_object_array_get_idx(splits, i);
		if (!doc_get(split, "pid"))
			continue;
		ticks = doc_number(split, "ticks");
		binned = ticks_of_pid(doc, json_object_get_int64(doc_get(split, "pid")));
		cr_expect_leq(binned, ticks, "%s", json_object_to_json_string(split));
		missing += ticks - binned;
	}
	cr_expect_eq(missing, doc_number(doc, "ticks.total") - doc_number(doc, "ticks.binned"));
}

/* What `report --by thread` says of a thread. */
struct thread_row {
	unsigned long ticks;
	double percent;
	int tid;
	double seconds;
};

static struct thread_row thread_row(const char *profile, const char *name)
{
	struct thread_row row = { 0 };
	struct child_end end;

	child_run(&end, NULL,
		  ARGS(BPFPROFIL_BIN, "report", "--format", "csv", "--by", "thread", "--comm", name,
		       profile));
	cr_assert_eq(end.status, 0, "%s", end.err);
	cr_assert_eq(sscanf(end.out, "ticks,percent,tid,thread,seconds\n%lu,%lf,%d,%*[^,],%lf",
			    &row.ticks, &row.percent, &row.tid, &row.seconds),
		     4, "%s", end.out);
	child_end_free(&end);
	return row;
}

static double seconds_of_split(struct json_object *doc, int tid)
{
	struct json_object *splits = doc_get(doc, "splits"), *split;
	double seconds = 0;
	size_t i;

	for (i = 0; i < json_object_array_length(splits); i++) {
		split = json_object_array_get_idx(splits, i);
		if (json_object_get_int(doc_get(split, "pid")) == tid)
			seconds += (double)doc_number(split, "cpu_ns") / 1e9;
	}
	cr_assert_gt(seconds, 0, "no time of %d", tid);
	return seconds;
}

/* Text that is in no file is of a process, and still each thread has its own ticks and time. */
LIVE_TEST(live_threads, in_anonymous_text)
{
	struct thread_row three, one;
	char text[64];
	int pid;

	NEED(live_run(live, ARGS(FAST, "--split", "thread"),
		      ARGS(WORKLOAD("jit"), "15000", "threads")),
	     "no machine code for this architecture");
	pid = atoi(live->end.out);
	snprintf(text, sizeof(text), "/tmp/perf-%d.map", pid);
	unlink(text);
	doc_assert_shares(live->doc, SHARES({ "jit_hot", 3 }, { "jit_warm", 1 }), 0.97);
	snprintf(text, sizeof(text), "[jit:%d]", pid);
	cr_expect_geq((double)doc_object(live->doc, "jit", text),
		      0.97 * (double)doc_number(live->doc, "ticks.total"), "not all in %s", text);
	assert_split(live->doc, "three");
	assert_split(live->doc, "one");
	assert_bins_of_splits(live->doc);
	three = thread_row(live->profile, "three");
	one = thread_row(live->profile, "one");
	cr_expect_neq(three.tid, pid);
	cr_expect_neq(one.tid, pid);
	/* Three times the work, but an emulated CPU may be slower than the next. */
	cr_expect_gt(three.ticks, one.ticks);
	cr_expect_geq(three.percent + one.percent, 97);
	cr_expect_geq(three.seconds, 0.97 * seconds_of_split(live->doc, three.tid));
	cr_expect_geq(one.seconds, 0.97 * seconds_of_split(live->doc, one.tid));
}
