// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A small profile whose stacks are large in formats that have all frames of each. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "export/export.h"
#include "profile/waits.h"
#include "sample.h"

enum { DEPTH = 1000, LEAVES = 140000 };

/* The first bins call each other, and the last of these calls all others. */
static struct profile *deep_and_wide(void)
{
	struct profile *profile = sample_profile_of_chains(1, DEPTH + LEAVES);
	struct profile_node *nodes = profile->callers->nodes;
	int32_t i;

	for (i = 1; i < DEPTH + LEAVES; i++)
		nodes[i].parent = i < DEPTH ? i - 1 : DEPTH - 1;
	return profile;
}

/* Adds a wait that is shorter than a tick, below the deepest caller. */
static void add_short_wait(struct profile *profile)
{
	struct profile_waits *waits = calloc(1, sizeof(*waits));
	struct profile_callers *tree = &waits->tree;
	int32_t i;

	profile->waits = waits;
	waits->classes = calloc(1, sizeof(*waits->classes));
	waits->classes[waits->nr_classes++].name = strdup("futex");
	tree->roots = calloc(1, sizeof(*tree->roots));
	tree->roots[tree->nr_roots++] = (struct profile_root){ .pid = -1, .end = END_COMPLETE };
	tree->sites = calloc(DEPTH, sizeof(*tree->sites));
	tree->nodes = calloc(DEPTH, sizeof(*tree->nodes));
	for (i = 0; i < DEPTH; i++) {
		tree->sites[tree->nr_sites++] = profile->callers->sites[i];
		tree->nodes[tree->nr_nodes++] =
			(struct profile_node){ .parent = i - 1, .site = (uint32_t)i };
	}
	tree->nodes[DEPTH - 1].ticks = 1000000;
	tree->nodes[DEPTH - 1].waits = 1;
}

/* The coldest stacks lose their callers, and no time is lost. */
Test(export_stacks, speedscope_is_limited, .timeout = 120)
{
	char note[EXPORT_NOTE_BYTES] = "", *at;
	cleanup_profile struct profile *profile = deep_and_wide();
	const struct export_options every = { .target = EXPORT_ALL_TARGETS, .note = note };
	cleanup_free char *text = NULL;
	uint64_t sum = 0, weight;

	add_short_wait(profile);
	text = sample_export("speedscope", profile, &every, NULL);
	cr_expect_lt(strlen(text), 128UL << 20);
	cr_expect_gt(strlen(text), 32UL << 20);
	cr_expect(strstr(note, " ticks and 0.001 s of waits are without callers"), "%s", note);
	cr_expect_lt(strtoull(note, NULL, 10), profile->ticks.binned);
	at = strstr(text, "\"weights\": [");
	cr_assert_not_null(at);
	for (at += strlen("\"weights\": "); *at != ']'; sum += weight)
		weight = strtoull(at + 1, &at, 10);
	cr_expect_eq(sum, profile->ticks.binned * 1000003, "%lu", sum);
}

/* A request is made in memory. */
Test(export_stacks, otlp_is_refused, .timeout = 120)
{
	cleanup_profile struct profile *profile = deep_and_wide();
	cleanup_file FILE *null = fopen("/dev/null", "w");
	struct error err;

	cr_assert_eq(export_write(export_find("otlp"), profile, NULL, null, &err), -E2BIG);
	cr_expect_str_eq(err.text, "otlp: more than 67108864 frames in all stacks");
}
