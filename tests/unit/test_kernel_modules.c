// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "host/engine/kernel_modules.h"
#include "profile/profile_io.h"
#include "sample.h"

enum { FRESH = 77 };

static void parse(const char *text, struct kernel_modules *result)
{
	FILE *file = fmemopen((void *)text, strlen(text), "r");
	struct error err;

	*result = (struct kernel_modules){ 0 };
	cr_assert(file);
	cr_assert_eq(kernel_modules_parse(file, result, &err), 0);
	fclose(file);
}

/* Two adjacent modules, with sizes that reach beyond the next one's start, as since 6.4. */
static const char two[] = "overlay 196608 1 - Live 0xffffffffc0402000\n"
			  "virtiofs 65536 3 fuse,other, Live 0xffffffffc0400000 (OE)\n";

Test(kernel_modules, parse)
{
	struct kernel_modules modules;

	parse(two, &modules);
	cr_assert_eq(modules.nr, 2);
	cr_expect_str_eq(modules.list[0].name, "[virtiofs]");
	cr_expect_eq(modules.list[0].start, 0xffffffffc0400000);
	cr_expect_eq(modules.list[0].size, 65536);
	cr_expect_str_eq(modules.list[1].name, "[overlay]");
	kernel_modules_free(&modules);
}

/* Without privilege all addresses are 0. */
Test(kernel_modules, parse_nothing)
{
	struct kernel_modules modules;

	parse("overlay 196608 1 - Live 0x0000000000000000\n\nx\nx y z\n", &modules);
	cr_expect_eq(modules.nr, 0);
	kernel_modules_free(&modules);
}

static struct profile *kernel_profile(const uint64_t (*ticks)[2], size_t nr)
{
	struct profile *profile = profile_new();
	struct profile_histogram *histogram;
	size_t i;

	profile->objects = calloc(1, sizeof(*profile->objects));
	profile->histograms = calloc(1, sizeof(*profile->histograms));
	profile->nr_objects = profile->nr_histograms = 1;
	profile->objects->kind = PROFILE_KERNEL;
	profile->objects->path = strdup("[kernel]");
	histogram = profile->histograms;
	histogram->pid = 7;
	histogram->process = strdup("who");
	histogram->bytes_per_bin = 16;
	histogram->offset = ticks[0][0];
	histogram->bins = calloc(nr, sizeof(*histogram->bins));
	histogram->nr_bins = nr;
	for (i = 0; i < nr; i++)
		histogram->bins[i] =
			(struct profile_bin){ (ticks[i][0] - histogram->offset) / 16, ticks[i][1] };
	histogram->size = ticks[nr - 1][0] + 16 - histogram->offset;
	return profile;
}

static uint64_t ticks_at(const struct profile *profile, const char *object, uint64_t address)
{
	uint64_t sum = 0;
	size_t i, j;

	for (i = 0; i < profile->nr_histograms; i++) {
		const struct profile_histogram *histogram = &profile->histograms[i];

		if (strcmp(profile->objects[histogram->object].path, object))
			continue;
		cr_expect_eq(histogram->pid, 7);
		cr_expect_str_eq(histogram->process, "who");
		for (j = 0; j < histogram->nr_bins; j++)
			if (histogram->offset + histogram->bins[j].index * 16 == address)
				sum += histogram->bins[j].count;
	}
	return sum;
}

Test(kernel_modules, split)
{
	static const uint64_t ticks[][2] = {
		{ 0xffffffff81000000, 1 },  { 0xffffffffc03ffff0, 2 },	{ 0xffffffffc0400000, 4 },
		{ 0xffffffffc0401ff0, 8 },  { 0xffffffffc0402000, 16 }, { 0xffffffffc0402010, 32 },
		{ 0xffffffffd0000000, 64 },
	};
	cleanup_profile struct profile *profile =
		kernel_profile(ticks, sizeof(ticks) / sizeof(*ticks));
	cleanup_free uint32_t *ids = calloc(1, sizeof(*ids));
	struct kernel_modules modules;
	struct error err;

	parse(two, &modules);
	cr_assert_eq(kernel_modules_split(&modules, profile, &ids, FRESH, &err), 0);
	cr_assert_eq(profile->nr_objects, 3);
	cr_assert_eq(profile->nr_histograms, 3);
	cr_expect_eq(ids[0], 0);
	cr_expect_eq(ids[1], FRESH);
	cr_expect_eq(ids[2], FRESH);
	cr_expect_eq(ticks_at(profile, "[kernel]", ticks[0][0]), 1);
	cr_expect_eq(ticks_at(profile, "[kernel]", ticks[1][0]), 2);
	cr_expect_eq(ticks_at(profile, "[virtiofs]", ticks[2][0]), 4);
	cr_expect_eq(ticks_at(profile, "[virtiofs]", ticks[3][0]), 8);
	cr_expect_eq(ticks_at(profile, "[overlay]", ticks[4][0]), 16);
	cr_expect_eq(ticks_at(profile, "[overlay]", ticks[5][0]), 32);
	cr_expect_eq(ticks_at(profile, "[kernel]", ticks[6][0]), 64);
	kernel_modules_free(&modules);
}

/* If all is in modules, no empty histogram is left. */
Test(kernel_modules, split_all)
{
	static const uint64_t ticks[][2] = { { 0xffffffffc0400000, 4 }, { 0xffffffffc0402000, 5 } };
	cleanup_profile struct profile *profile = kernel_profile(ticks, 2);
	cleanup_free uint32_t *ids = calloc(1, sizeof(*ids));
	struct kernel_modules modules;
	struct error err;

	parse(two, &modules);
	cr_assert_eq(kernel_modules_split(&modules, profile, &ids, FRESH, &err), 0);
	cr_expect_eq(profile->nr_histograms, 2);
	cr_expect_eq(ticks_at(profile, "[virtiofs]", ticks[0][0]), 4);
	cr_expect_eq(ticks_at(profile, "[overlay]", ticks[1][0]), 5);
	kernel_modules_free(&modules);
}
