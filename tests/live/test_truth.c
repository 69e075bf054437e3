// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* Programs whose time per function is known, linked and run in parallel in all ways. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "live.h"
#include "need.h"

#define FIVE_THREE_TWO SHARES({ "alpha", 5 }, { "beta", 3 }, { "delta", 2 })
#define NEARLY_ALL 0.97

TestSuite(live_truth, .init = need_root, .timeout = 120);

/* The workload burns 5 : 3 : 2 in one or a few processes, and spends nearly all its time there. */
static void burn(const char *const command[])
{
	struct live live;

	live_begin(&live);
	live_run_timed(&live, ARGS(FAST), command);
	doc_assert_shares(live.doc, FIVE_THREE_TWO, NEARLY_ALL);
	live_end(&live);
}

Test(live_truth, pie)
{
	burn(ARGS(WORKLOAD("three"), "15000"));
}

Test(live_truth, not_position_independent)
{
	burn(ARGS(WORKLOAD("three_nopie"), "15000"));
}

Test(live_truth, static_program)
{
	burn(ARGS(WORKLOAD("three_static"), "15000"));
}

Test(live_truth, static_pie)
{
	burn(ARGS(WORKLOAD("three_static_pie"), "15000"));
}

Test(live_truth, eight_threads)
{
	burn(ARGS(WORKLOAD("threads"), "8", "20000"));
}

LIVE_TEST(live_truth, default_frequency)
{
	live_run_timed(live, ARGS("-q"), ARGS(WORKLOAD("threads"), "2", "30000"));
	doc_assert_shares(live->doc, FIVE_THREE_TWO, NEARLY_ALL);
	cr_expect_float_eq(json_object_get_double(doc_get(live->doc, "sampling.requested_hz")), 997,
			   0.5);
	cr_expect_float_eq(1e9 / (double)doc_number(live->doc, "sampling.period_ns"), 997, 0.5);
}

LIVE_TEST(live_truth, fork_tree)
{
	live_run_timed(live, ARGS(FAST), ARGS(WORKLOAD("forktree"), "2000"));
	doc_assert_shares(live->doc, SHARES({ "alpha", 1 }, { "beta", 3 }, { "delta", 9 }),
			  NEARLY_ALL);
}

/*
 * Ticks in the two halves of bigtext, near_N before the 64 MiB and remote_N after. By offset,
 * because a bin wider than a function may have no name.
 */
static void halves(struct json_object *doc, uint64_t ticks[2])
{
	struct json_object *functions = doc_get(doc, "functions");
	size_t i;

	for (i = 0; i < json_object_array_length(functions); i++) {
		struct json_object *function = json_object_array_get_idx(functions, i);
		struct json_object *object = json_object_array_get_idx(
			doc_get(doc, "objects"), doc_number(function, "object"));

		if (!strstr(json_object_get_string(doc_get(object, "path")), "bigtext"))
			continue;
		ticks[doc_number(function, "offset") > 32UL << 20] += doc_number(function, "ticks");
	}
}

/* In a guest FUSE serves the original, which is larger than a file that is read from there. */
static const char *copy_bigtext(struct live *live)
{
	return live_copy(live, WORKLOAD("bigtext"), "bigtext");
}

/* 4,096 hot pages of text, in two groups 64 MiB apart. */
LIVE_TEST(live_truth, big_text)
{
	const char *program = copy_bigtext(live);
	uint64_t ticks[2] = { 0 };

	live_run_timed(live, ARGS(FAST), ARGS(program, "16", "10"));
	halves(live->doc, ticks);
	assert_ratio(SHARES({ "near", 5 }, { "remote", 3 }), ticks);
	cr_expect_geq((double)(ticks[0] + ticks[1]),
		      0.9 * (double)doc_number(live->doc, "ticks.total"));
}

/* The note has the ticks of each width once. */
static void check_note_of_widths(const struct live *live)
{
	const char *note = strstr(live->end.err, " ticks are in bins of ");
	unsigned long long ticks, bytes, widest = 0, widest_bytes = 65536;
	int widths;

	cr_assert(note, "%s", live->end.err);
	while (note > live->end.err && note[-1] != ' ')
		note--;
	widths = sscanf(note, "%llu ticks are in bins of %llu bytes and %llu in bins of %llu",
			&ticks, &bytes, &widest, &widest_bytes);
	cr_assert(widths == 2 || widths == 4, "%s", note);
	cr_expect_eq(doc_in_bins(live->doc, NULL, bytes), ticks, "%s", note);
	cr_expect_eq(doc_in_bins(live->doc, NULL, widest_bytes), widest, "%s", note);
	cr_expect_gt(ticks, 0);
}

/*
 * At the limit new text gets wider bins, which is reported, and no tick is lost. Here there are many more
 * hot places than there is memory for, and halves fill faster than they can be emptied.
 */
LIVE_TEST(live_truth, memory_limit_makes_bins_coarser)
{
	struct json_object *histograms;
	uint64_t ticks[2] = { 0 }, coarsest = 1;
	const char *program = copy_bigtext(live);
	size_t i;

	live_run_timed(live, ARGS(FAST, "--memory", "256K"), ARGS(program, "16", "10"));
	cr_expect_eq(doc_lost(live->doc, "no_memory"), 0, "ticks were lost for want of memory");
	histograms = doc_get(live->doc, "histograms");
	for (i = 0; i < json_object_array_length(histograms); i++) {
		struct json_object *histogram = json_object_array_get_idx(histograms, i);
		uint64_t bytes = doc_number(histogram, "bytes_per_bin");

		coarsest = bytes > coarsest ? bytes : coarsest;
	}
	cr_expect_gt(coarsest, 1, "all bins are of one byte in spite of the limit");
	check_note_of_widths(live);
	cr_expect_gt(json_object_array_length(doc_get(live->doc, "notes")), 0, "no note of it");
	halves(live->doc, ticks);
	assert_ratio(SHARES({ "near", 5 }, { "remote", 3 }), ticks);
}

#define JITS(n) "for i in $(seq " n "); do rm /tmp/perf-$(\"$1\" 5).map; done"
#define STOPPED(what) "p=$(cut -d' ' -f4 /proc/$PPID/stat); kill -STOP $p; " what "; kill -CONT $p"

/*
 * Short processes that are told apart, each with text that was made at run time: a half is emptied again
 * and again. An emulated CPU does that late, so that more memory is needed.
 */
LIVE_TEST(live_truth, memory_limit_loses_nobody)
{
	const char *memory = doc_emulated_part() > 0 ? "512K" : "256K";

	live_run(live, ARGS(FAST, "--split", "process", "--memory", memory),
		 ARGS("sh", "-c", JITS("120"), "sh", WORKLOAD("jit")));
	cr_expect_eq(doc_lost(live->doc, "no_memory"), 0, "ticks were lost for want of memory");
}

/*
 * Those that come before it is emptied are merged. Nothing is emptied while the profiler is stopped; it is
 * the parent of what counts the tree's time.
 */
LIVE_TEST(live_truth, memory_that_is_full_is_shared)
{
	struct json_object *histograms;
	size_t i, together = 0;

	live_run(live, ARGS(FAST, "--split", "process", "--memory", "256K"),
		 ARGS("sh", "-c", STOPPED(JITS("240")), "sh", WORKLOAD("jit")));
	cr_expect_eq(doc_lost(live->doc, "no_memory"), 0, "ticks were lost for want of memory");
	histograms = doc_get(live->doc, "histograms");
	for (i = 0; i < json_object_array_length(histograms); i++)
		together +=
			!json_object_object_get(json_object_array_get_idx(histograms, i), "pid");
	cr_expect_gt(together, 0);
	cr_expect_not_null(strstr(live->end.err, "the process of "), "not said: %s", live->end.err);
	cr_expect_gt(doc_object(live->doc, NULL, "[anon]"), 0);
}

/* A neighbour outside of the tree that burns as much CPU is in no account. */
LIVE_TEST(live_truth, neighbour_is_not_counted)
{
	struct child neighbour;
	struct child_end end;

	child_start(&neighbour, NULL, ARGS(WORKLOAD("forever"), live_path(live, "pid")));
	number_in_file(live_path(live, "pid"));
	live_run_timed(live, ARGS(FAST), ARGS(WORKLOAD("threads"), "2", "15000"));
	kill(neighbour.pid, SIGKILL);
	child_finish(&neighbour, &end);
	child_end_free(&end);
	cr_expect_eq(doc_function(live->doc, "neighbour_spin", NULL), 0);
	cr_expect_eq(doc_object(live->doc, NULL, "forever"), 0);
	doc_assert_shares(live->doc, FIVE_THREE_TWO, NEARLY_ALL);
}

/* Neither is one that runs the same file. */
LIVE_TEST(live_truth, neighbour_of_the_same_file_is_not_counted)
{
	struct child neighbour;
	struct child_end end;

	child_start(&neighbour, NULL, ARGS(WORKLOAD("three"), "10000000"));
	live_run_timed(live, ARGS(FAST), ARGS(WORKLOAD("three"), "15000"));
	kill(neighbour.pid, SIGKILL);
	child_finish(&neighbour, &end);
	child_end_free(&end);
	doc_assert_shares(live->doc, FIVE_THREE_TWO, NEARLY_ALL);
}
