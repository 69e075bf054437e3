/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_BIN_WALK_H
#define BPFPROFIL_BIN_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export/export.h"

/*
 * The bins of a profile, object by object and ascending by offset, from all of the object's
 * histograms. Of bins at one offset the earlier histogram's comes first. The walk needs far less
 * memory than the bins.
 *
 *	while (bin_walk_object(walk, &object))
 *		while (bin_walk_next(walk, &place))
 */
struct bin_walk;

struct bin_place {
	const struct profile_histogram *histogram;
	size_t bin; /* index in the histogram */
	uint64_t offset;
	uint64_t ticks;
	bool again; /* the previous bin was at this offset too */
};

/* The bins that options choose; NULL: all bins. Returns NULL when out of memory. */
struct bin_walk *bin_walk_new(const struct profile *profile, const struct export_options *options);
void bin_walk_free(struct bin_walk *walk); /* NULL is fine */

/* Goes to the next object that has bins; false: there is no other. */
bool bin_walk_object(struct bin_walk *walk, uint32_t *result);

/* The next bin of that object; false: there are no more. */
bool bin_walk_next(struct bin_walk *walk, struct bin_place *result);

/* Where that object's histograms begin and end. */
struct profile_text bin_walk_extent(const struct bin_walk *walk);

/* Goes back to the first bin of that object. */
void bin_walk_restart(struct bin_walk *walk);

#endif
