// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* Programs whose shares by caller are known, walked in all ways. */
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "attach.h"
#include "doc_callers.h"
#include "live.h"
#include "need.h"

/*
 * Of the ticks of programs that have rules for all their text. An exec has one or two more, before
 * the new image's registers are set; at 99 Hz these are 2 % of a test's.
 */
#define NEARLY_ALL_COMPLETE 0.985
#define AMID_EXEC 2

TestSuite(live_callers, .init = need_root, .timeout = 120);

static void run_callers(struct live *live, const char *const options[], const char *const command[])
{
	uint64_t ticks;

	live_run(live, options, command);
	doc_assert_callers(live->doc);
	ticks = doc_number(live->doc, "ticks.total");
	cr_expect_geq((double)(doc_ended(live->doc, "complete") + AMID_EXEC),
		      NEARLY_ALL_COMPLETE * (double)ticks, "of %lu ticks only %lu are complete",
		      ticks, doc_ended(live->doc, "complete"));
}

/* Asserts the shares of the functions that call, at whatever distance, the one that burns. */
static void shares_of(const char *program, const char *what, size_t n, const struct share *wanted)
{
	uint64_t ticks[4];
	struct live live;
	size_t i;

	live_begin(&live);
	run_callers(&live, ARGS("-F", doc_walk_hz(), "--force", "--callers"),
		    ARGS(program, what, "10000"));
	for (i = 0; i < n; i++)
		ticks[i] = doc_called(live.doc, "leaf", wanted[i].name);
	assert_ratio(n, wanted, ticks);
	live_end(&live);
}

static void shares(const char *what, size_t n, const struct share *wanted)
{
	shares_of(WORKLOAD("callers"), what, n, wanted);
}

Test(live_callers, plain)
{
	shares("plain", SHARES({ "first", 5 }, { "second", 3 }, { "third", 2 }));
}

Test(live_callers, deep_recursion)
{
	shares("deep", SHARES({ "first", 6 }, { "second", 4 }));
}

Test(live_callers, mutual_recursion)
{
	shares("mutual", SHARES({ "ping", 7 }, { "third", 3 }));
}

Test(live_callers, tail_call)
{
	shares("tail", SHARES({ "calls_jumps", 6 }, { "second", 4 }));
}

Test(live_callers, signal_handler)
{
	shares("signal", SHARES({ "raises", 5 }, { "second", 5 }));
}

Test(live_callers, threads)
{
	shares("threads", SHARES({ "first", 5 }, { "second", 5 }));
}

Test(live_callers, forks)
{
	shares("forks", SHARES({ "first", 5 }, { "second", 5 }));
}

Test(live_callers, frame_pointer_and_alloca)
{
	shares("pointer", SHARES({ "moves", 6 }, { "second", 4 }));
}

Test(live_callers, through_the_c_library)
{
	shares("library", SHARES({ "sorts", 5 }, { "second", 5 }));
}

/* On arm64 the vDSO has no call-frame information. */
LIVE_TEST(live_callers, vdso)
{
	uint64_t in_vdso;

	run_callers(live, ARGS(FAST, "--callers"), ARGS(WORKLOAD("clock"), "60"));
	in_vdso = doc_object(live->doc, NULL, "vdso");
	cr_expect_gt(in_vdso, 100);
	cr_expect_geq((double)doc_called(live->doc, "clock_gettime", "reads"),
		      NEARLY_ALL_COMPLETE * (double)in_vdso);
	assert_ratio(SHARES({ "first", 6 }, { "second", 4 }),
		     (uint64_t[]){ doc_called(live->doc, "clock_gettime", "first"),
				   doc_called(live->doc, "clock_gettime", "second") });
}

#ifdef __aarch64__
/* The processor signs return addresses if it can; else the instructions do nothing. */
Test(live_callers, signed_return_addresses)
{
	shares_of(WORKLOAD("callers_signed"), "plain",
		  SHARES({ "first", 5 }, { "second", 3 }, { "third", 2 }));
}
#endif

/* Without rules too, for its frame pointers lead from one stack to another. */
LIVE_TEST(live_callers, stacks_of_go)
{
	uint64_t ticks, called, late;

	live_run(live, ARGS(FAST, "--callers"), ARGS(WORKLOAD("gostack"), "5000"));
	doc_assert_callers(live->doc);
	ticks = doc_function(live->doc, "leaf", NULL);
	cr_expect_gt(ticks, 100);
	called = doc_called(live->doc, "leaf", "first");
	/* A busy host takes some milliseconds to read what the file is. */
	late = doc_ended(live->doc, "late");
	cr_expect_leq(ticks - called, late, "%lu of %lu, %lu late", called, ticks, late);
	cr_expect_leq(late, ticks / 20);
	cr_expect_leq(doc_ended(live->doc, "no rule"), ticks / 100);
}

/* Its table is made before its first tick, though nothing but a shell was known of before. */
LIVE_TEST(live_callers, library_that_is_used_late)
{
	uint64_t ticks, called;

	live_run(live, ARGS(FAST, "--callers"),
		 ARGS("sh", "-c", "\"$0\" \"$@\"", WORKLOAD("opened"), WORKLOAD("plugin_a.so"),
		      "1500"));
	doc_assert_callers(live->doc);
	ticks = doc_function(live->doc, "plugin_a", NULL);
	called = doc_called(live->doc, "plugin_a", "main");
	cr_expect_gt(ticks, 100);
	cr_expect_eq(called, ticks, "%lu of %lu", called, ticks);
}

/* A frame has the name of the code that lay there when it was met. */
LIVE_TEST(live_callers, jit_that_is_reused)
{
	const struct share wanted[] = { { "jit_hot", 3 }, { "jit_warm", 1 } };
	uint64_t ticks[2];
	char map[64];
	int i;

	NEED(live_run_timed(live, ARGS(FAST, "--callers"), ARGS(WORKLOAD("jit"), "15000", "calls")),
	     "no machine code for this machine");
	snprintf(map, sizeof(map), "/tmp/perf-%d.map", atoi(live->end.out));
	unlink(map);
	doc_assert_chains(live->doc);
	for (i = 0; i < 2; i++)
		ticks[i] = doc_called(live->doc, "burn", wanted[i].name);
	assert_ratio(2, wanted, ticks);
	cr_expect_geq(ticks[0] + ticks[1], doc_number(live->doc, "ticks.total") / 100 * 97);
}

/* main calls all of it, and what calls main is the C library. */
LIVE_TEST(live_callers, main_has_it_all)
{
	uint64_t ticks;

	run_callers(live, ARGS(FAST, "--callers"), ARGS(WORKLOAD("callers"), "deep", "5000"));
	ticks = doc_number(live->doc, "ticks.total");
	cr_expect_geq((double)doc_inclusive(live->doc, "main"), 0.98 * (double)ticks);
	cr_expect_geq((double)doc_inclusive(live->doc, "_start"), 0.98 * (double)ticks);
	cr_expect_eq(doc_called(live->doc, "third", "leaf"), 0);
	cr_expect_geq(doc_deepest(live->doc), 103);
}

/* The kernel's frames are those of the user's frame that called it. */
LIVE_TEST(live_callers, kernel_frames)
{
	uint64_t reads;

	run_callers(live, ARGS(FAST, "--callers", "--mode", "split"),
		    ARGS(WORKLOAD("syscalls"), "2000"));
	reads = doc_inclusive(live->doc, "ksys_read");
	cr_expect_gt(reads, 100);
	cr_expect_eq(doc_called(live->doc, "ksys_read", "read_zeros"), reads);
}

LIVE_TEST(live_callers, scheduler_tick)
{
	run_callers(live, ARGS("--source", "tick", "--callers"),
		    ARGS(WORKLOAD("callers"), "plain", "20000"));
	cr_expect_geq((double)doc_called(live->doc, "leaf", "main"),
		      NEARLY_ALL_COMPLETE * (double)doc_inclusive(live->doc, "leaf"));
}

LIVE_TEST(live_callers, rate_by_default)
{
	run_callers(live, ARGS("--callers"), ARGS(WORKLOAD("callers"), "plain", "10000"));
	cr_expect_float_eq(json_object_get_double(doc_get(live->doc, "sampling.requested_hz")), 99,
			   0.5);
}

/* Short programs: each begins and ends, forks and execs. */
LIVE_TEST(live_callers, short_programs)
{
	uint64_t ticks;

	live_run(live, ARGS(FAST, "--callers"),
		 ARGS("sh", "-c", "for i in $(seq 300); do /bin/true; done"));
	doc_assert_callers(live->doc);
	ticks = doc_number(live->doc, "ticks.total");
	cr_expect_geq((double)doc_ended(live->doc, "complete"), 0.9 * (double)ticks);
}

/* With room for a few chains the rest is counted as such, and the flat histogram has all of it. */
LIVE_TEST(live_callers, full_tree)
{
	live_run(live, ARGS(FAST, "--callers", "--memory", "1M"),
		 ARGS(WORKLOAD("callers"), "wide", "10000"));
	doc_assert_callers(live->doc);
	cr_expect_eq(doc_lost(live->doc, NULL), 0);
	cr_expect_gt(doc_ended(live->doc, "full"), 0);
	cr_expect_gt(doc_ended(live->doc, "complete"), 0);
	cr_expect(strstr(live->end.err, "full; --memory 64M has room for more"), "%s",
		  live->end.err);
}

/* Asserts of each file of a series that its chains have all of its ticks; returns those below a function. */
static uint64_t check_series(struct live *live, const char *name, size_t *ret_nr)
{
	uint64_t ticks = 0;
	glob_t found;
	size_t i;

	cr_assert_eq(glob(live_path(live, "p-*.json"), 0, NULL, &found), 0);
	cr_expect_gt(found.gl_pathc, 1);
	for (i = 0; i < found.gl_pathc; i++) {
		struct json_object *doc = doc_load(found.gl_pathv[i]);

		doc_assert_sound(doc);
		doc_assert_chains(doc);
		ticks += doc_inclusive(doc, name);
		json_object_put(doc);
	}
	*ret_nr = found.gl_pathc;
	globfree(&found);
	return ticks;
}

/* Runs with files named by the time, each of which is checked. */
static void run_interval(struct live *live, const char *const options[],
			 const char *const command[])
{
	const char *argv[32];
	size_t nr;

	snprintf(live->profile, sizeof(live->profile), "%s/p-%%t.json", live->dir);
	live_command(live, argv, 32, options, command, false);
	child_run(&live->end, NULL, argv);
	cr_assert_eq(live->end.status, 0, "%s", live->end.err);
	check_series(live, "main", &nr);
}

static bool has_series(void *argument)
{
	glob_t found;
	bool ret = !glob(live_path(argument, "p-*.json"), 0, NULL, &found) && found.gl_pathc > 2;

	globfree(&found);
	return ret;
}

/* What report has of a folder by time, with the callers of a function: a row for each file. */
static void check_time(struct live *live, const char *name, uint64_t ticks, size_t nr)
{
	struct json_object *doc, *rows;
	struct child_end end;
	size_t i;

	child_run(&end, NULL,
		  ARGS(BPFPROFIL_BIN, "report", "--by", "time", "--callers", name, "--limit", "0",
		       "--format", "json", live->dir));
	cr_assert_eq(end.status, 0, "%s", end.err);
	doc = json_tokener_parse(end.out);
	rows = doc_get(doc, "rows");
	cr_expect_eq(json_object_array_length(rows), nr);
	for (i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);

		ticks -= doc_number(row, "ticks");
		cr_expect_str_eq(json_object_get_string(doc_get(row, "caller")), "main");
	}
	cr_expect_eq(ticks, 0, "%ld more than in the rows: %s", (long)ticks, end.out);
	json_object_put(doc);
	child_end_free(&end);
}

LIVE_TEST(live_callers, intervals_of_attach)
{
	struct child attach, victim;
	struct child_end end;
	uint64_t ticks;
	char pid[16];
	size_t nr;

	snprintf(live->profile, sizeof(live->profile), "%s/p-%%t.json", live->dir);
	child_start(&victim, NULL, ARGS(WORKLOAD("callers"), "mutual", "1000000"));
	snprintf(pid, sizeof(pid), "%d", victim.pid);
	attach_start(live, &attach, ARGS("--callers", "--interval", "1", "--pid", pid));
	cr_assert(eventually(has_series, live));
	attach_finish(live, &attach, SIGINT);
	kill(victim.pid, SIGKILL);
	child_finish(&victim, &end);
	child_end_free(&end);
	ticks = check_series(live, "ping", &nr);
	cr_expect_gt(ticks, 100);
	check_time(live, "ping", ticks, nr);
}

/* Files, processes and roots come while the tree is read. */
#define STORM "for i in $(seq 1000); do cp /bin/true $0/$i; $0/$i; $0/$i & rm $0/$i; done; wait"

LIVE_TEST(live_callers, intervals_of_a_storm)
{
	run_interval(live, ARGS(FAST, "--callers", "--interval", "1"),
		     ARGS("sh", "-c", STORM, live->dir));
}

LIVE_TEST(live_callers, intervals_of_a_storm_by_process)
{
	run_interval(live, ARGS(FAST, "--callers", "--interval", "1", "--split", "process"),
		     ARGS("sh", "-c", STORM, live->dir));
}

LIVE_TEST(live_callers, intervals_with_a_full_tree)
{
	run_interval(live, ARGS(FAST, "--callers", "--interval", "1", "--memory", "1M"),
		     ARGS(WORKLOAD("callers"), "wide", "30000"));
}

#define FILES "$(ls $0/p-* | wc -l)"
#define NEXT_FILES "k=$((" FILES " + 3)); while [ " FILES " -lt $k ]; do sleep 0.1; done; "
#define NEXT_FILE "k=$((" FILES " + 1)); while [ " FILES " -lt $k ]; do sleep 0.1; done; "

/* A half has 8,192 nodes with this --memory. More than two of these come and go, and none lacks room. */
LIVE_TEST(live_callers, half_is_emptied_before_it_is_full)
{
	uint64_t nodes = 0, plain = 0, full = 0;
	glob_t found;
	size_t i;

	run_interval(live, ARGS(FAST, "--callers", "--interval", "1", "--memory", "2M"),
		     ARGS("sh", "-c", "$1 wide 60000; " NEXT_FILES "$1 plain 5000", live->dir,
			  WORKLOAD("callers")));
	cr_assert_eq(glob(live_path(live, "p-*.json"), 0, NULL, &found), 0);
	for (i = 0; i < found.gl_pathc; i++) {
		struct json_object *doc = doc_load(found.gl_pathv[i]);

		nodes += json_object_array_length(doc_get(doc, "callers.nodes"));
		plain += doc_called(doc, "leaf", "first");
		full += doc_ended(doc, "full");
		json_object_put(doc);
	}
	globfree(&found);
	cr_expect_gt(nodes, 2 * 8192);
	cr_expect_gt(plain, 0);
	cr_expect_eq(full, 0, "%lu of %lu", full, plain);
}

/*
 * More files run, one after the other, than there are numbers for, each for some seconds known and then gone.
 * What comes last is walked to its end as what came first. Where they take too long there are fewer.
 */
#define MANY_FILES                                                                                 \
	"timeout 60 sh -c 'n=0; for round in $(seq 12); do for i in $(seq 120); do n=$((n + 1)); " \
	"cp /bin/true $0/$n; $0/$n; rm $0/$n; done; " NEXT_FILE "done' $0; "                       \
	"cp $1 $0/last; $0/last plain 8000"

LIVE_TEST(live_callers, numbers_of_files_are_given_back, .timeout = 400)
{
	uint64_t ticks = 0, complete = 0;
	glob_t found;
	size_t i;

	run_interval(live, ARGS(FAST, "--callers", "--interval", "1", "--memory", "1M"),
		     ARGS("sh", "-c", MANY_FILES, live->dir, WORKLOAD("callers")));
	cr_assert_eq(glob(live_path(live, "p-*.json"), 0, NULL, &found), 0);
	for (i = 0; i < found.gl_pathc; i++) {
		struct json_object *doc = doc_load(found.gl_pathv[i]);

		ticks += doc_inclusive(doc, "leaf");
		complete += doc_called(doc, "leaf", "main");
		json_object_put(doc);
	}
	globfree(&found);
	cr_expect_gt(ticks, 100);
	/* A table of a busy host is late for longer; without numbers that were given back there are no chains. */
	cr_expect_geq((double)complete, 0.9 * (double)ticks, "%lu of %lu", complete, ticks);
}

static bool has_root_of(struct json_object *doc, const char *process)
{
	struct json_object *roots = doc_get(doc, "callers.roots"), *name;
	size_t i;

	for (i = 0; i < json_object_array_length(roots); i++)
		if (json_object_object_get_ex(json_object_array_get_idx(roots, i), "process",
					      &name) &&
		    !strcmp(json_object_get_string(name), process))
			return true;
	return false;
}

/* The same of processes, each of which has a root or two; where they take too long there are fewer. */
LIVE_TEST(live_callers, numbers_of_roots_are_given_back)
{
	bool found_it = false;
	glob_t found;
	size_t i;

	run_interval(live,
		     ARGS("-F", "9999", "--force", "--callers", "--interval", "1", "--memory", "1M",
			  "--split", "process"),
		     ARGS("sh", "-c", "timeout 40 $2 24000 0; " NEXT_FILES "$1 plain 5000",
			  live->dir, WORKLOAD("callers"), WORKLOAD("swarm")));
	cr_assert_eq(glob(live_path(live, "p-*.json"), 0, NULL, &found), 0);
	for (i = 0; i < found.gl_pathc; i++) {
		struct json_object *doc = doc_load(found.gl_pathv[i]);

		found_it = found_it || has_root_of(doc, "callers");
		json_object_put(doc);
	}
	globfree(&found);
	cr_expect(found_it);
}

/* All of the host, its kernel threads too, while programs come and go. */
LIVE_TEST(live_callers, whole_host)
{
	struct child_end end;
	struct child child;

	attach_start(live, &child,
		     ARGS("--all", "--callers", "-F", "997", "--mode", "split", "--split",
			  "process"));
	child_run(&end, NULL, ARGS("sh", "-c", STORM, live->dir));
	cr_expect_eq(end.status, 0, "%s", end.err);
	child_end_free(&end);
	attach_end(live, &child, SIGINT);
	doc_assert_callers(live->doc);
	cr_expect_gt(doc_ended(live->doc, "complete"), 0);
}
