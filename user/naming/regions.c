// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "naming/regions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "naming/object_file.h"

/* A range of an object to keep: [start, end). */
struct kept_region {
	uint32_t object;
	uint64_t start;
	uint64_t end;
};

bool object_has_name(const struct profile_object *object, const char *name)
{
	return !strcmp(object->path, name) || !strcmp(text_basename(object->path), name);
}

const struct profile_object *object_of_name(const struct profile *profile, const char *name)
{
	size_t i;

	for (i = 0; i < profile->nr_objects; i++)
		if (object_has_name(&profile->objects[i], name))
			return &profile->objects[i];
	return NULL;
}

/* Finds the symbol's range in the object; false: there is no such symbol, or no table. */
static bool find_region_symbol(const struct profile *profile, const struct object_opener *opener,
			       uint32_t object, const char *name, struct kept_region *result)
{
	struct symbol_range range;

	if (!object_symbol_named(&profile->objects[object], object, opener, name, &range))
		return false;
	*result = (struct kept_region){ object, range.start, range.end };
	return true;
}

static int note_missing_region(struct profile *profile, const struct region *region)
{
	return profile_note(profile, "--region %s%s%s: nothing of that name was hit",
			    region->object, region->symbol ? ":" : "",
			    region->symbol ? region->symbol : "");
}

/* kept has room for every region in every object. */
static int find_kept(struct profile *profile, const struct object_opener *opener,
		     const struct region *region, struct kept_region *kept, size_t *nr_kept)
{
	size_t before = *nr_kept;
	uint32_t i;

	for (i = 0; i < profile->nr_objects; i++) {
		if (!object_has_name(&profile->objects[i], region->object))
			continue;
		if (!region->symbol)
			kept[(*nr_kept)++] = (struct kept_region){ i, 0, UINT64_MAX };
		else if (find_region_symbol(profile, opener, i, region->symbol, &kept[*nr_kept]))
			(*nr_kept)++;
	}
	return *nr_kept == before ? note_missing_region(profile, region) : 0;
}

static bool touches(const struct kept_region *kept, size_t nr, uint32_t object, uint64_t start,
		    uint64_t bytes)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (kept[i].object == object && start < kept[i].end &&
		    start + bytes > kept[i].start)
			return true;
	return false;
}

/* Returns the removed ticks. */
static uint64_t filter_histogram(struct profile_histogram *histogram,
				 const struct kept_region *kept, size_t nr)
{
	uint64_t gone = 0, start;
	size_t i, stay = 0;

	for (i = 0; i < histogram->nr_bins; i++) {
		start = profile_bin_start(histogram, i);
		if (touches(kept, nr, histogram->object, start, histogram->bytes_per_bin))
			histogram->bins[stay++] = histogram->bins[i];
		else
			gone += histogram->bins[i].count;
	}
	histogram->nr_bins = stay;
	return gone;
}

static void filter(struct profile *profile, const struct kept_region *kept, size_t nr)
{
	struct profile_account *account;
	uint64_t gone;
	size_t i;

	for (i = 0; i < profile->nr_histograms; i++) {
		gone = filter_histogram(&profile->histograms[i], kept, nr);
		account = &profile->targets[profile->histograms[i].target].ticks;
		account->binned -= gone;
		account->filtered += gone;
		profile->ticks.binned -= gone;
		profile->ticks.filtered += gone;
	}
}

int regions_apply(struct profile *profile, const struct object_opener *opener,
		  const struct region *regions, size_t nr, struct error *err)
{
	cleanup_free struct kept_region *kept = calloc(nr * profile->nr_objects + 1, sizeof(*kept));
	size_t i, nr_kept = 0;
	int ret = kept ? 0 : -ENOMEM;

	if (!nr)
		return 0;
	for (i = 0; i < nr && !ret; i++)
		ret = find_kept(profile, opener, &regions[i], kept, &nr_kept);
	if (ret)
		return error_no_memory(err, "--region");
	filter(profile, kept, nr_kept);
	return 0;
}
