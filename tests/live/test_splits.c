// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * Targets that are split by process, thread or cgroup: each has its own time, whether it has ticks or
 * not, and however little memory there is for its counters.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "attach.h"
#include "cgroup.h"
#include "need.h"

TestSuite(live_splits, .init = need_root, .timeout = 180);

/* One program that computes all the time, and many that are short. */
#define BESIDE_SHORT_ONES                                                                          \
	"\"$1\" 15000 & i=0; while [ $i -lt \"$3\" ]; do \"$2\" 12; i=$((i + 1)); done; wait"

static const char *text_of(struct json_object *object, const char *key)
{
	const char *text = json_object_get_string(json_object_object_get(object, key));

	return text ? text : "";
}

/* Ticks in bins of which it is not known whose they are. */
static uint64_t ticks_of_unknown(struct json_object *doc)
{
	uint64_t known = 0;
	size_t i;
	struct json_object *splits = doc_get(doc, "splits");

	for (i = 0; i < json_object_array_length(splits); i++)
		known += doc_number(json_object_array_get_idx(splits, i), "ticks");
	return doc_number(doc, "ticks.total") - known;
}

static bool has_note(struct json_object *doc, const char *text)
{
	struct json_object *notes = doc_get(doc, "notes");
	size_t i;

	for (i = 0; i < json_object_array_length(notes); i++)
		if (strstr(json_object_get_string(json_object_array_get_idx(notes, i)), text))
			return true;
	return false;
}

static void expect_all_time(struct json_object *doc)
{
	struct json_object *splits = doc_get(doc, "splits");
	double sum = 0;
	size_t i;

	for (i = 0; i < json_object_array_length(splits); i++)
		sum += (double)doc_number(json_object_array_get_idx(splits, i), "cpu_ns");
	cr_expect_float_eq(sum, (double)doc_number(doc, "cpu_ns"), 1, "the splits have %.6f s",
			   sum / 1e9);
}

/*
 * So many processes fill a half again and again, and then the session's own table. The program that
 * computes all the time must still have all of its time: the map of CPU times was full once when it was
 * first entered there.
 */
static void check_beside_short_ones(const char *split)
{
	struct live live;
	struct doc_splits steady, brief;

	live_begin(&live);
	live_run(&live, ARGS("-q", "--split", split, "--memory", "1M"),
		 ARGS("sh", "-c", BESIDE_SHORT_ONES, "sh", WORKLOAD("three"),
		      WORKLOAD("three_static"), "300"));
	steady = doc_splits_named(live.doc, "process", "three");
	brief = doc_splits_named(live.doc, "process", "three_static");
	cr_expect_eq(steady.nr, 1);
	cr_expect_gt(brief.nr - brief.nr_sums, 100, "%zu of 300 are told apart", brief.nr);
	cr_expect_gt(steady.ns, 1e9);
	cr_expect_float_eq((double)steady.ticks *
				   (double)doc_number(live.doc, "sampling.period_ns"),
			   steady.ns, 0.1 * steady.ns, "%llu ticks for %.3f s",
			   (unsigned long long)steady.ticks, steady.ns / 1e9);
	cr_expect_eq(ticks_of_unknown(live.doc), 0);
	cr_expect_not(has_note(live.doc, "--memory"));
	expect_all_time(live.doc);
	live_end(&live);
}

Test(live_splits, processes_in_little_memory)
{
	check_beside_short_ones("process");
}

Test(live_splits, threads_in_little_memory)
{
	check_beside_short_ones("thread");
}

/*
 * Where there is not even room in user space for what so many processes counted, those that have ended
 * are told apart by name, and a note says so.
 */
LIVE_TEST(live_splits, added_up_by_name)
{
	struct doc_splits steady, brief;

	live_run(live, ARGS("-q", "--split", "process", "--memory", "256K"),
		 ARGS("sh", "-c", BESIDE_SHORT_ONES, "sh", WORKLOAD("three"),
		      WORKLOAD("three_static"), "1500"));
	steady = doc_splits_named(live->doc, "process", "three");
	brief = doc_splits_named(live->doc, "process", "three_static");
	cr_expect_eq(steady.nr, 1);
	cr_expect_eq(brief.nr_sums, 1);
	cr_expect_lt(brief.nr, 1400, "%zu of 1,500 were not added up", brief.nr);
	cr_expect(has_note(live->doc, "are distinguished by name only"));
	expect_all_time(live->doc);
}

/* Nothing is emptied while the profiler is stopped, so that others' ticks are in bins of nobody. */
#define BESIDE_FULL_MEMORY                                                                         \
	"p=$(cut -d' ' -f4 /proc/$PPID/stat); kill -STOP $p; \"$1\" 10000 & "                      \
	"for i in $(seq 200); do rm /tmp/perf-$(\"$2\" 5).map; done; wait; kill -CONT $p"

/* SECONDS of an object whose path ends so. */
static double object_seconds(struct live *live, const char *suffix)
{
	struct child_end end;
	struct json_object *report, *objects;
	double seconds = 0;
	size_t i;

	child_run(&end, NULL,
		  ARGS(BPFPROFIL_BIN, "report", "--by", "objects", "--format", "json",
		       live_path(live, "profile.json")));
	report = json_tokener_parse(end.out);
	cr_assert_not_null(report, "%s", end.err);
	objects = doc_get(report, "rows");
	for (i = 0; i < json_object_array_length(objects); i++) {
		struct json_object *row = json_object_array_get_idx(objects, i);
		const char *path = text_of(row, "object");
		size_t length = strlen(path), tail = strlen(suffix);

		if (length >= tail && !strcmp(path + length - tail, suffix))
			seconds += json_object_get_double(doc_get(row, "seconds"));
	}
	json_object_put(report);
	child_end_free(&end);
	return seconds;
}

/* A program has as much time by place as by process, also while nobody empties the table that the kernel fills. */
LIVE_TEST(live_splits, time_beside_full_memory)
{
	struct doc_splits steady;
	double ns;

	live_run(live, ARGS("-q", FAST, "--split", "process", "--memory", "256K"),
		 ARGS("sh", "-c", BESIDE_FULL_MEMORY, "sh", WORKLOAD("three"), WORKLOAD("jit")));
	expect_all_time(live->doc);
	cr_expect(has_note(live->doc, "--memory 256K"));
	steady = doc_splits_named(live->doc, "process", "three");
	cr_expect_eq(steady.nr, 1);
	ns = 1e9 * object_seconds(live, "/three");
	cr_expect_float_eq(ns, steady.ns, 0.05 * steady.ns, "%.3f s by place, %.3f s by process",
			   ns / 1e9, steady.ns / 1e9);
}

/* At 20 Hz most of them have no tick: they are one split, and its time is what they had. */
LIVE_TEST(live_splits, ended_without_a_tick)
{
	struct doc_splits brief;
	double ns;

	live_run(live, ARGS("-q", "--split", "process", "-F", "20"),
		 ARGS("sh", "-c", BESIDE_SHORT_ONES, "sh", WORKLOAD("three"),
		      WORKLOAD("three_static"), "100"));
	brief = doc_splits_named(live->doc, "process", "three_static");
	cr_expect_eq(brief.nr_sums, 1);
	cr_expect_lt(brief.nr, 100);
	ns = brief.ns / 100;
	cr_expect(ns > 0.2e6 && ns < 100e6, "%.3f ms each", ns / 1e6);
	expect_all_time(live->doc);
}

/* A cgroup whose program runs between two ticks has a name and its own time. */
LIVE_TEST(live_splits, cgroup_without_a_tick)
{
	char mount[128], outer[256], inner[300];
	struct burner brief;
	struct child child;
	struct doc_splits found;

	if (!cgroup_mount(NULL, mount, sizeof(mount))) {
		cr_skip_test("cgroup2 is not mounted");
		return;
	}
	snprintf(outer, sizeof(outer), "%s/bpfprofil-brief-%d", mount, getpid());
	snprintf(inner, sizeof(inner), "%s/inner", outer);
	cgroup_make(outer);
	cgroup_make(inner);
	burner_start(&brief, live, "brief", WORKLOAD("forever"), 1, ARGS(NULL));
	attach_start(live, &child,
		     ARGS("-q", "--cgroup", outer, "--split", "cgroup", "-F", "1", "--force"));
	cgroup_enter(inner, brief.child.pid);
	burner_run(&brief, 0.02);
	attach_end(live, &child, SIGINT);
	burner_end(&brief);
	cgroup_remove(outer);
	found = doc_splits_named(live->doc, "cgroup", inner + strlen(mount));
	cr_expect_eq(found.nr, 1);
	/* One in fifty times a tick falls into these 20 ms; then it has that tick. */
	cr_expect_leq(found.ticks, 1);
	cr_expect(found.ns > 0.9 * brief.cpu_ns && found.ns < 1.1 * brief.cpu_ns + 2e6,
		  "%.3f of %.3f ms", found.ns / 1e6, brief.cpu_ns / 1e6);
	expect_all_time(live->doc);
}
