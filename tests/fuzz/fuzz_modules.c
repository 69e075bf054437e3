// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Any bytes as /proc/modules: whichever modules are found, no tick of the kernel may be missing. */
#include <stdlib.h>

#include "bytes.h"
#include "host/engine/kernel_modules.h"
#include "host/engine/store_profile.h"

enum { PLACES = 64 };

/* In each KiB from the first module's usual address on. */
static struct store *make_store(void)
{
	const struct kernel_root root = { 0 };
	struct table_node nodes[PLACES];
	const struct closed_half half = { .nodes = nodes,
					  .nr_nodes = PLACES,
					  .roots = &root,
					  .nr_roots = 1 };
	struct store *store = store_new(0);
	uint32_t i;

	for (i = 0; i < PLACES; i++)
		nodes[i] = (struct table_node){
			.site = (uint64_t)TEXT_KERNEL << SITE_OFFSET_BITS |
				((0xffffffffc0000000 + (i << 10)) & SITE_OFFSET_MASK),
			.parent = NODE_IS_ROOT,
			.count = i + 1,
		};
	fuzz_check(store && !store_add(store, &half), "they are added");
	return store;
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
	const struct spaces spaces = { 0 };
	const struct split_names splits = { 0 };
	struct seen_names names = { .spaces = &spaces, .splits = &splits };
	struct profile *profile = profile_new();
	struct kernel_modules modules = { 0 };
	struct store *store = make_store();
	struct tally tally = { 0 };
	const struct store_fill_request request = { .names = &names,
						    .tallies = &tally,
						    .modules = &modules };
	struct error err = { "", "" };
	FILE *file = fdopen(fuzz_file(data, size), "r");

	fuzz_check(!kernel_modules_parse(file, &modules, &err), "it is parsed");
	fclose(file);
	fuzz_check(!store_fill(store, &request, profile, &err), "it is filled");
	fuzz_check(tally.binned == PLACES * (PLACES + 1) / 2, "each tick is in a bin");
	fuzz_check(all_ticks(profile) == tally.binned, "no tick is lost");
	kernel_modules_free(&modules);
	store_free(store);
	profile_free(profile);
	free(names.sources);
	free(names.split_ids);
	return 0;
}
