// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Profiles with callers side by side: which function changed with all that it called, and by which call. */
#include "report/diff.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "sample.h"

enum { FUNCTIONS_MAX = 16, CHAINS_MAX = 16, DEPTH_MAX = 64 };

/* A chain of functions, the first frame first, with blanks between, and its ticks. */
struct chain {
	const char *frames;
	uint64_t ticks;
};

static const struct diff_options inclusive = { .inclusive = true };
static const struct diff_options calls = { .inclusive = true, .calls = true };

/* Functions have 16 bytes, and all ticks and calls are in their first. */
static uint32_t function_of(struct profile *profile, const char *name, size_t length)
{
	uint32_t i;

	for (i = 0; i < profile->nr_functions; i++)
		if (!strncmp(profile->functions[i].name, name, length) &&
		    !profile->functions[i].name[length])
			return i;
	cr_assert_lt(i, FUNCTIONS_MAX);
	profile->functions[i] = (struct profile_function){ .name = strndup(name, length),
							   .offset = i * 16,
							   .size = 16 };
	profile->callers->sites[i].offset = i * 16;
	profile->histograms[0].bins[i] = (struct profile_bin){ i * 16, 0 };
	profile->nr_functions = profile->callers->nr_sites = profile->histograms[0].nr_bins = i + 1;
	return i;
}

static int32_t node_of(struct profile_callers *callers, int32_t parent, uint32_t site)
{
	size_t i;

	for (i = 0; i < callers->nr_nodes; i++)
		if (callers->nodes[i].parent == parent && callers->nodes[i].site == site)
			return (int32_t)i;
	cr_assert_lt(i, CHAINS_MAX * DEPTH_MAX);
	callers->nodes[callers->nr_nodes++] = (struct profile_node){ parent, site, 0, 0 };
	return (int32_t)i;
}

static void add_chain(struct profile *profile, const struct chain *chain)
{
	const char *at = chain->frames;
	int32_t node = -1;
	uint32_t function = 0;
	size_t length;

	for (; *at; at += length, at += strspn(at, " ")) {
		length = strcspn(at, " ");
		function = function_of(profile, at, length);
		node = node_of(profile->callers, node, function);
	}
	profile->callers->nodes[node].ticks += chain->ticks;
	profile->histograms[0].bins[function].count += chain->ticks;
	profile->ticks.total += chain->ticks;
	profile->ticks.binned += chain->ticks;
}

/* The profile of these chains, of a program with this build id, at 1 kHz; the last chain has no frames. */
static struct profile *profile_of(const char *build_id, const struct chain *chains)
{
	struct profile *profile = sample_profile_of_bins(FUNCTIONS_MAX);

	profile->histograms[0].bytes_per_bin = 1;
	profile->histograms[0].size = 16 * FUNCTIONS_MAX;
	profile->functions = calloc(FUNCTIONS_MAX, sizeof(*profile->functions));
	profile->callers = calloc(1, sizeof(*profile->callers));
	profile->callers->sites = calloc(FUNCTIONS_MAX, sizeof(*profile->callers->sites));
	profile->callers->roots = calloc(1, sizeof(*profile->callers->roots));
	profile->callers->nr_roots = 1;
	profile->callers->roots[0] = (struct profile_root){ .pid = -1 };
	profile->callers->nodes = calloc(CHAINS_MAX * DEPTH_MAX, sizeof(*profile->callers->nodes));
	free(profile->objects[0].build_id);
	profile->objects[0].build_id = strdup(build_id);
	profile->ticks = (struct profile_account){ 0 };
	for (; chains->frames; chains++)
		add_chain(profile, chains);
	profile->targets[0].ticks.total = profile->targets[0].ticks.binned = profile->ticks.total;
	return profile;
}

/* Builds a diff of chains; the profiles are the caller's. */
static void compare(const struct chain *before, const struct chain *after,
		    const struct diff_options *options, struct profile *sides[2], struct diff *diff)
{
	struct error err = { 0 };

	sides[0] = profile_of("00aa", before);
	sides[1] = profile_of("00bb", after);
	cr_assert_eq(diff_build(sides[0], sides[1], options, diff, &err), 0, "%s", err.text);
}

static void end(struct profile *sides[2], struct diff *diff)
{
	diff_free(diff);
	profile_free(sides[0]);
	profile_free(sides[1]);
}

static const struct diff_row *row_of(const struct diff *diff, const char *caller, const char *name)
{
	size_t i;

	for (i = 0; i < diff->nr; i++)
		if (!strcmp(diff->rows[i].name, name) &&
		    (!caller || !compare_text(diff->rows[i].caller, caller)))
			return &diff->rows[i];
	cr_assert_fail("%s is missing", name);
	return NULL;
}

static const struct chain before[] = {
	{ "main render lookup find", 100 },
	{ "main render lookup find same", 100 },
	{ "main parse lookup find", 90 },
	{ "main parse lookup find same", 110 },
	{ "main render lookup", 60 },
	{ "main parse lookup", 62 },
	{ "main work", 1000 },
	{ "main render", 30 },
	{ NULL, 0 },
};

/* find() has longer chains. That lookup() has some ticks more than before is chance. */
Test(diff_callers, longer_chains)
{
	static const struct chain after[] = {
		{ "main render lookup find", 200 },
		{ "main render lookup find same", 260 },
		{ "main parse lookup find", 190 },
		{ "main parse lookup find same", 250 },
		{ "main render lookup", 80 },
		{ "main parse lookup", 90 },
		{ "main work", 1000 },
		{ "main render", 31 },
		{ NULL, 0 },
	};
	struct profile *sides[2];
	struct diff diff;

	compare(before, after, &inclusive, sides, &diff);
	cr_expect_str_eq(diff.rows[0].name, "find");
	cr_expect_eq(diff.rows[0].old.sum.ticks, 400);
	cr_expect_eq(diff.rows[0].new.sum.ticks, 900);
	cr_expect_float_eq(diff.rows[0].old.percent, 100. * 400 / 1552, 1e-9);
	cr_expect(diff.rows[0].significant && diff.rows[0].probability < 1e-9);
	cr_expect_str_eq(diff.rows[1].name, "lookup", "which only passes it on");
	cr_expect_gt(diff.rows[1].change, diff.rows[0].change);
	cr_expect_not(row_of(&diff, NULL, "main")->significant);
	end(sides, &diff);
}

/* render() calls three times as often, and nothing else changed. */
Test(diff_callers, one_caller_calls_more)
{
	static const struct chain after[] = {
		{ "main render lookup find", 300 },
		{ "main render lookup find same", 300 },
		{ "main parse lookup find", 90 },
		{ "main parse lookup find same", 110 },
		{ "main render lookup", 180 },
		{ "main parse lookup", 62 },
		{ "main work", 1000 },
		{ "main render", 30 },
		{ NULL, 0 },
	};
	struct profile *sides[2];
	struct diff diff;

	compare(before, after, &calls, sides, &diff);
	cr_expect_str_eq(diff.rows[0].name, "lookup");
	cr_expect_str_eq(diff.rows[0].caller, "render");
	cr_expect_eq(diff.rows[0].old.sum.ticks, 260);
	cr_expect_eq(diff.rows[0].new.sum.ticks, 780);
	cr_expect_lt(diff.rows[0].probability, 1e-9);
	cr_expect_lt(row_of(&diff, "parse", "lookup")->change, 0);
	cr_expect_eq(row_of(&diff, "parse", "lookup")->new.sum.ticks, 262);
	end(sides, &diff);
	compare(before, after, &inclusive, sides, &diff);
	cr_expect_str_eq(diff.rows[0].name, "render", "parse() did not");
	end(sides, &diff);
}

Test(diff_callers, equal_runs)
{
	struct profile *sides[2];
	struct diff diff;
	size_t i;

	for (i = 0; i < 2; i++) {
		compare(before, before, i ? &calls : &inclusive, sides, &diff);
		cr_expect_eq(diff.significant, 0);
		cr_expect_eq(diff.nr, 7);
		end(sides, &diff);
	}
}

/* A tick counts once for a recursive function and a recursive call, for the parts that a compiler made of one
 * function. */
Test(diff_callers, each_tick_once)
{
	static const struct chain old[] = {
		{ "main f f f g", 40 },
		{ "main w", 50 },
		{ "main h", 10 },
		{ NULL, 0 },
	};
	static const struct chain new[] = {
		{ "main f.part.0 f f.cold g", 40 },
		{ "main w", 50 },
		{ "main h", 10 },
		{ NULL, 0 },
	};
	struct profile *sides[2];
	struct diff diff;

	compare(old, new, &inclusive, sides, &diff);
	cr_expect_eq(row_of(&diff, NULL, "f")->old.sum.ticks, 40);
	cr_expect_eq(row_of(&diff, NULL, "f")->new.sum.ticks, 40);
	cr_expect_eq(diff.significant, 0);
	end(sides, &diff);
	compare(old, new, &calls, sides, &diff);
	cr_expect_eq(row_of(&diff, "f", "f")->old.sum.ticks, 40);
	cr_expect_eq(row_of(&diff, "f", "f")->new.sum.ticks, 40);
	end(sides, &diff);
}

/* Text without a name of one object is one row; each of its ticks is in it once. */
Test(diff_callers, text_without_a_name)
{
	static const struct chain old[] = {
		{ "main bin+0x10 bin+0x20 bin+0x30", 50 },
		{ "main h", 50 },
		{ NULL, 0 },
	};
	static const struct chain new[] = {
		{ "main bin+0x11 bin+0x21", 50 },
		{ "main h", 50 },
		{ NULL, 0 },
	};
	struct profile *sides[2];
	struct error err = { 0 };
	struct diff diff;
	size_t i, nameless = 0;

	sides[0] = profile_of("00aa", old);
	sides[1] = profile_of("00bb", new);
	for (i = 0; i < 2; i++) {
		free(sides[i]->objects[0].path);
		sides[i]->objects[0].path = strdup("/usr/bin/bin");
	}
	cr_assert_eq(diff_build(sides[0], sides[1], &inclusive, &diff, &err), 0, "%s", err.text);
	for (i = 0; i < diff.nr; i++) {
		if (diff.rows[i].name)
			continue;
		nameless++;
		cr_expect_eq(diff.rows[i].old.sum.ticks, 50);
		cr_expect_eq(diff.rows[i].new.sum.ticks, 50);
	}
	cr_expect_eq(nameless, 1);
	end(sides, &diff);
}
