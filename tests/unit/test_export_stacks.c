// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A small profile whose stacks are large in formats that have all frames of each. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "export/export.h"
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

/* The coldest stacks lose their callers, and no time is lost. */
Test(export_stacks, speedscope_is_limited, .timeout = 120)
{
	char note[EXPORT_NOTE_BYTES] = "", *at;
	cleanup_profile struct profile *profile = deep_and_wide();
	const struct export_options every = { .target = EXPORT_ALL_TARGETS, .note = note };
	cleanup_free char *text = sample_export("speedscope", profile, &every, NULL);
	uint64_t sum = 0, weight;

	cr_expect_lt(strlen(text), 128UL << 20);
	cr_expect_gt(strlen(text), 32UL << 20);
	cr_expect(strstr(note, " ticks are without callers"), "%s", note);
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
