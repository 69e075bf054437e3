// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "export/bin_walk.h"

#include <stdlib.h>

#include "base/util.h"
#include "export/export_impl.h"

/* The next bin of a histogram. */
struct cursor {
	const struct profile_histogram *histogram;
	size_t bin;
};

struct bin_walk {
	const struct profile_histogram **sorted; /* sorted by object */
	size_t nr;
	size_t first; /* those of the current object: [first, end) */
	size_t end;
	struct cursor *heap; /* the smallest offset is on top */
	size_t nr_heap;
	uint64_t last; /* offset of the last bin returned */
	bool any; /* a bin has been returned */
};

static uint64_t cursor_offset(const struct cursor *cursor)
{
	return profile_bin_start(cursor->histogram, cursor->bin);
}

static bool comes_before(const struct cursor *a, const struct cursor *b)
{
	uint64_t offset_a = cursor_offset(a);
	uint64_t offset_b = cursor_offset(b);

	return offset_a != offset_b ? offset_a < offset_b : a->histogram < b->histogram;
}

static void sift_down(struct bin_walk *walk, size_t at)
{
	struct cursor moved = walk->heap[at];
	size_t child;

	for (; (child = 2 * at + 1) < walk->nr_heap; at = child) {
		if (child + 1 < walk->nr_heap &&
		    comes_before(&walk->heap[child + 1], &walk->heap[child]))
			child++;
		if (!comes_before(&walk->heap[child], &moved))
			break;
		walk->heap[at] = walk->heap[child];
	}
	walk->heap[at] = moved;
}

static int compare_walked_objects(const void *a, const void *b)
{
	const struct profile_histogram *x = *(const struct profile_histogram *const *)a;
	const struct profile_histogram *y = *(const struct profile_histogram *const *)b;

	return compare_u64(x->object, y->object);
}

struct bin_walk *bin_walk_new(const struct profile *profile, const struct export_options *options)
{
	struct bin_walk *walk = calloc(1, sizeof(*walk));
	size_t i;

	if (!walk)
		return NULL;
	walk->sorted = calloc(profile->nr_histograms + 1, sizeof(*walk->sorted));
	walk->heap = calloc(profile->nr_histograms + 1, sizeof(*walk->heap));
	if (!walk->sorted || !walk->heap) {
		bin_walk_free(walk);
		return NULL;
	}
	for (i = 0; i < profile->nr_histograms; i++) {
		const struct profile_histogram *histogram = &profile->histograms[i];

		if (histogram->nr_bins && (!options || export_chosen(profile, options, histogram)))
			walk->sorted[walk->nr++] = histogram;
	}
	SORT(walk->sorted, walk->nr, compare_walked_objects);
	return walk;
}

void bin_walk_free(struct bin_walk *walk)
{
	if (!walk)
		return;
	free(walk->sorted);
	free(walk->heap);
	free(walk);
}

bool bin_walk_object(struct bin_walk *walk, uint32_t *result)
{
	walk->first = walk->end;
	if (walk->first == walk->nr)
		return false;
	while (walk->end < walk->nr &&
	       walk->sorted[walk->end]->object == walk->sorted[walk->first]->object)
		walk->end++;
	bin_walk_restart(walk);
	*result = walk->sorted[walk->first]->object;
	return true;
}

void bin_walk_restart(struct bin_walk *walk)
{
	size_t i;

	walk->any = false;
	walk->nr_heap = walk->end - walk->first;
	for (i = 0; i < walk->nr_heap; i++)
		walk->heap[i] = (struct cursor){ walk->sorted[walk->first + i], 0 };
	for (i = walk->nr_heap / 2; i-- > 0;)
		sift_down(walk, i);
}

bool bin_walk_next(struct bin_walk *walk, struct bin_place *result)
{
	struct cursor *top = &walk->heap[0];

	if (!walk->nr_heap)
		return false;
	result->histogram = top->histogram;
	result->bin = top->bin;
	result->offset = cursor_offset(top);
	result->again = walk->any && walk->last == result->offset;
	walk->any = true;
	walk->last = result->offset;
	result->ticks = top->histogram->bins[top->bin].count;
	if (++top->bin == top->histogram->nr_bins)
		*top = walk->heap[--walk->nr_heap];
	sift_down(walk, 0);
	return true;
}

struct profile_text bin_walk_extent(const struct bin_walk *walk)
{
	uint64_t start = UINT64_MAX, end = 0;
	const struct profile_histogram *histogram;
	size_t i;

	for (i = walk->first; i < walk->end; i++) {
		histogram = walk->sorted[i];
		if (histogram->offset < start)
			start = histogram->offset;
		if (add_saturating(histogram->offset, histogram->size) > end)
			end = add_saturating(histogram->offset, histogram->size);
	}
	return (struct profile_text){ start, start, end - start };
}
