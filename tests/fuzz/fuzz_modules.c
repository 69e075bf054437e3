// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Any bytes as /proc/modules: whichever modules are found, no tick of the kernel may be missing. */
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "host/engine/kernel_modules.h"

enum { BINS = 64 };

static struct profile *make_profile(void)
{
	struct profile *profile = profile_new();
	struct profile_histogram *histogram = calloc(1, sizeof(*histogram));
	size_t i;

	profile->objects = calloc(1, sizeof(*profile->objects));
	profile->objects->kind = PROFILE_KERNEL;
	profile->objects->path = strdup("[kernel]");
	profile->nr_objects = 1;
	histogram->pid = -1;
	histogram->offset = 0xffffffffc0000000;
	histogram->size = 0x3fffffff;
	histogram->width = 4;
	histogram->bytes_per_bin = 1;
	histogram->bins = calloc(BINS, sizeof(*histogram->bins));
	for (i = 0; i < BINS; i++)
		histogram->bins[histogram->nr_bins++] = (struct profile_bin){ i << 10, i + 1 };
	profile->histograms = histogram;
	profile->nr_histograms = 1;
	return profile;
}

static uint64_t all_ticks(const struct profile *profile)
{
	uint64_t ticks = 0;
	size_t i;

	for (i = 0; i < profile->nr_histograms; i++)
		ticks += profile_histogram_ticks(&profile->histograms[i]);
	return ticks;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile *profile = make_profile();
	struct kernel_modules modules = { 0 };
	uint64_t ticks = all_ticks(profile);
	uint32_t *ids = calloc(1, sizeof(*ids));
	struct error err = { "", "" };
	FILE *file = fdopen(fuzz_file(data, size), "r");

	fuzz_check(!kernel_modules_parse(file, &modules, &err), "it is parsed");
	fclose(file);
	fuzz_check(!kernel_modules_split(&modules, profile, &ids, 0, &err), "it is split");
	fuzz_check(all_ticks(profile) == ticks, "no tick is lost");
	kernel_modules_free(&modules);
	profile_free(profile);
	free(ids);
	return 0;
}
