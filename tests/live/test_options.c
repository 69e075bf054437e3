// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* Options that change what is counted, and how finely. */
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "live.h"
#include "need.h"

#define FIVE_THREE_TWO SHARES({ "alpha", 5 }, { "beta", 3 }, { "delta", 2 })

TestSuite(live_options, .timeout = 60);

/* Options that the manual names and a version may not have yet. */
static bool have_option(const char *option)
{
	struct child_end end;
	bool have;

	child_run(&end, NULL, ARGS(BPFPROFIL_BIN, "run", "--help"));
	have = strstr(end.out, option) != NULL;
	child_end_free(&end);
	return have;
}

/* Only the region's ticks are binned, the others are filtered; none is missing. */
Test(live_options, region_of_a_function)
{
	uint64_t alpha;
	struct live live;

	NEED_ROOT();
	live_begin(&live);
	live_run_timed(&live, ARGS(FAST, "--region", "three:alpha"),
		       ARGS(WORKLOAD("three"), "15000"));
	alpha = doc_function(live.doc, "alpha", NULL);
	cr_expect_eq(alpha, doc_number(live.doc, "ticks.binned"));
	assert_ratio(SHARES({ "alpha", 5 }, { "the others", 5 }),
		     (uint64_t[]){ alpha, doc_number(live.doc, "ticks.filtered") });
	live_end(&live);
}

Test(live_options, regions_add_up)
{
	struct live live;

	NEED_ROOT();
	live_begin(&live);
	live_run_timed(&live, ARGS(FAST, "--region", "three:beta", "--region", "three:delta"),
		       ARGS(WORKLOAD("three"), "15000"));
	cr_expect_eq(doc_function(live.doc, "alpha", NULL), 0);
	assert_ratio(SHARES({ "beta", 3 }, { "delta", 2 }, { "the others", 5 }),
		     (uint64_t[]){ doc_function(live.doc, "beta", NULL),
				   doc_function(live.doc, "delta", NULL),
				   doc_number(live.doc, "ticks.filtered") });
	live_end(&live);
}

Test(live_options, region_of_an_object)
{
	struct live live;

	NEED_ROOT();
	live_begin(&live);
	live_run_timed(&live, ARGS(FAST, "--region", "plugin_b.so"),
		       ARGS(WORKLOAD("plugins"), "100", "20", WORKLOAD("plugin_a.so"),
			    WORKLOAD("plugin_b.so")));
	cr_expect_eq(doc_object(live.doc, NULL, "plugin_b.so"),
		     doc_number(live.doc, "ticks.binned"));
	cr_expect_gt(doc_number(live.doc, "ticks.binned"), 0);
	cr_expect_gt(doc_number(live.doc, "ticks.filtered"), doc_number(live.doc, "ticks.binned"));
	live_end(&live);
}

/* Every histogram has bins of the size, and the scale that says the same. */
static void expect_bytes_per_bin(struct json_object *doc, uint64_t bytes)
{
	struct json_object *histograms = doc_get(doc, "histograms");
	size_t i, n = json_object_array_length(histograms);

	cr_assert_gt(n, 0);
	for (i = 0; i < n; i++) {
		struct json_object *histogram = json_object_array_get_idx(histograms, i);
		struct json_object *object = json_object_array_get_idx(
			doc_get(doc, "objects"), doc_number(histogram, "object"));

		/* Text without a file has pages for bins at the least, by the rules. */
		if (strcmp(json_object_get_string(doc_get(object, "kind")), "file"))
			continue;
		cr_expect_eq(doc_number(histogram, "bytes_per_bin"), bytes);
		cr_expect_eq(doc_number(histogram, "scale"), 131072 / bytes);
	}
}

Test(live_options, bytes_per_bin)
{
	struct live live;

	NEED_ROOT();
	live_begin(&live);
	live_run_timed(&live, ARGS(FAST, "--bytes-per-bin", "16"),
		       ARGS(WORKLOAD("three"), "15000"));
	expect_bytes_per_bin(live.doc, 16);
	doc_assert_shares(live.doc, FIVE_THREE_TWO, 0.95);
	live_run(&live, ARGS(FAST, "--scale", "32768"), ARGS(WORKLOAD("three"), "2000"));
	expect_bytes_per_bin(live.doc, 4);
	live_run(&live, ARGS(FAST, "--bytes-per-bin", "65536"), ARGS(WORKLOAD("three"), "2000"));
	expect_bytes_per_bin(live.doc, 65536);
	live_end(&live);
}

/* One histogram of a file for every process; together they are what one would be. */
Test(live_options, split_by_process)
{
	struct json_object *histograms;
	size_t i, own = 0;
	struct live live;

	NEED_ROOT();
	NEED(have_option("--split"), "this version has no --split");
	live_begin(&live);
	live_run_timed(&live, ARGS(FAST, "--split", "process"), ARGS(WORKLOAD("forktree"), "1000"));
	doc_assert_shares(live.doc, SHARES({ "alpha", 1 }, { "beta", 3 }, { "delta", 9 }), 0.95);
	histograms = doc_get(live.doc, "histograms");
	for (i = 0; i < json_object_array_length(histograms); i++) {
		struct json_object *histogram = json_object_array_get_idx(histograms, i);
		struct json_object *object = json_object_array_get_idx(
			doc_get(live.doc, "objects"), doc_number(histogram, "object"));
		const char *path = json_object_get_string(doc_get(object, "path"));

		cr_expect(json_object_is_type(doc_get(histogram, "pid"), json_type_int));
		own += strstr(path, "forktree") != NULL;
	}
	cr_expect_eq(own, 13, "%zu histograms of the program, for 13 processes", own);
	live_end(&live);
}

/* A new file for each interval; all ticks are in one of them. */
Test(live_options, interval)
{
	const char *argv[32];
	struct live live;
	double ticks = 0, cpu_ns = 0;
	FILE *file;
	glob_t found;
	size_t i;

	NEED_ROOT();
	NEED(have_option("--interval"), "this version has no --interval");
	live_begin(&live);
	snprintf(live.profile, sizeof(live.profile), "%s/p-%%t.json", live.dir);
	live_command(&live, argv, 32, ARGS(FAST, "--interval", "1s"),
		     ARGS(WORKLOAD("three"), "30000"), true);
	child_run(&live.end, NULL, argv);
	cr_assert_eq(live.end.status, 0, "%s", live.end.err);
	cr_assert_eq(glob(live_path(&live, "p-*.json"), 0, NULL, &found), 0);
	cr_expect_gt(found.gl_pathc, 2, "%zu files", found.gl_pathc);
	for (i = 0; i < found.gl_pathc; i++) {
		struct json_object *doc = doc_load(found.gl_pathv[i]);

		doc_assert_sound(doc);
		ticks += (double)doc_number(doc, "ticks.total") *
			 (double)doc_number(doc, "sampling.period_ns");
		json_object_put(doc);
	}
	globfree(&found);
	file = fopen(live_path(&live, "usage"), "re");
	cr_assert(file && fscanf(file, "%lf", &cpu_ns) == 1);
	fclose(file);
	cr_expect_float_eq(ticks / cpu_ns, 1, 0.02, "%f", ticks / cpu_ns);
	live_end(&live);
}
