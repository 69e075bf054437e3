// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "profile/profile_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/util.h"
#include "profile/profile_splits.h"

/*
 * --- choosing -----------------------------------------------------------------------------------
 */

/* seen: by node, those whose callers were marked already. */
static void mark_calls(struct profile_rows *rows, uint32_t node, bool *seen)
{
	const struct profile_node *nodes = rows->profile->callers->nodes;
	int32_t at = node == PROFILE_NO_NODE ? -1 : nodes[node].parent;

	rows->ends[profile_chain_end(rows->chains, node)] = true;
	for (; at >= 0 && !seen[at]; at = nodes[at].parent) {
		seen[at] = true;
		if (nodes[at].site != PROFILE_SITE_KERNEL)
			rows->called[nodes[at].site] = true;
	}
}

static int find_own_calls(struct profile_rows *rows)
{
	cleanup_free bool *seen = calloc(rows->profile->callers->nr_nodes + 1, sizeof(*seen));
	const struct profile_row *row;

	profile_rows_start(rows, PROFILE_ROWS_OF_CHAINS);
	while (seen && (row = profile_rows_of_all(rows)))
		mark_calls(rows, row->node, seen);
	return seen ? 0 : -ENOMEM;
}

static int find_callers(struct profile_rows *rows, enum profile_rows_callers which)
{
	const struct profile_callers *callers = rows->profile->callers;

	rows->chains = profile_chains_new(rows->profile);
	if (!rows->chains)
		return -ENOMEM;
	if (!callers)
		return 0;
	rows->called = calloc(callers->nr_sites + 1, sizeof(*rows->called));
	if (!rows->called)
		return -ENOMEM;
	if (which == PROFILE_ROWS_WITH_OWN_CALLERS)
		return find_own_calls(rows);
	memset(rows->called, true, callers->nr_sites);
	return 0;
}

int profile_rows_begin(struct profile_rows *rows, const struct profile *profile,
		       const struct profile_choice *choice)
{
	const size_t room = profile->nr_histograms + 1;
	size_t i;

	*rows = (struct profile_rows){ .profile = profile,
				       .index = profile_index_new(profile),
				       .weights = profile_weights_new(profile),
				       .sorted = calloc(room, sizeof(*rows->sorted)),
				       .heap = calloc(room, sizeof(*rows->heap)) };
	if (!rows->index || !rows->weights || !rows->sorted || !rows->heap)
		return -ENOMEM;
	for (i = 0; i < profile->nr_histograms; i++) {
		const struct profile_histogram *histogram = &profile->histograms[i];

		if (choice->chosen && !choice->chosen(profile, choice->of, histogram))
			continue;
		rows->is_split |= profile_histogram_is_split(profile, histogram);
		if (histogram->nr_bins)
			rows->sorted[rows->nr++] = histogram;
	}
	return choice->callers ? find_callers(rows, choice->callers) : 0;
}

void profile_rows_end(struct profile_rows *rows)
{
	profile_index_free(rows->index);
	profile_weights_free(rows->weights);
	profile_chains_free(rows->chains);
	free(rows->called);
	free(rows->contexts);
	free(rows->sorted);
	free(rows->heap);
}

/* --- parts ------------------------------------------------------------------------------------ */

static int compare_histograms(const void *left, const void *right)
{
	const struct profile_histogram *const *a = left, *const *b = right;

	return (*a > *b) - (*a < *b);
}

static int compare_objects(const void *left, const void *right)
{
	const struct profile_histogram *const *a = left, *const *b = right;

	return compare_u64((*a)->object, (*b)->object) ?: compare_histograms(left, right);
}

static bool is_by_place(const struct profile_rows *rows)
{
	return rows->order & PROFILE_ROWS_BY_PLACE;
}

/* Returns the first chosen place of calls, from `site` on. */
static size_t next_site(const struct profile_rows *rows, size_t site)
{
	const size_t nr = rows->profile->callers->nr_sites;

	while (site < nr && !rows->called[site])
		site++;
	return site;
}

void profile_rows_start(struct profile_rows *rows, enum profile_rows_order order)
{
	rows->order = order;
	if (is_by_place(rows))
		SORT(rows->sorted, rows->nr, compare_objects);
	else
		SORT(rows->sorted, rows->nr, compare_histograms);
	rows->first = rows->end = rows->site = rows->end_site = 0;
	rows->nr_heap = rows->nr_chains = 0;
}

/* Finds the places of calls in the next object, which may come before the next histogram's. */
static void find_calls(struct profile_rows *rows)
{
	const size_t nr = rows->profile->callers->nr_sites;
	const struct profile_site *sites = rows->profile->callers->sites;
	size_t i = next_site(rows, rows->end_site);

	rows->site = i;
	if (i < nr && sites[i].object < rows->object)
		rows->object = sites[i].object;
	for (; i < nr && sites[i].object == rows->object; i = next_site(rows, i + 1))
		rows->calls = (struct profile_text){
			sites[rows->site].offset, sites[rows->site].offset,
			add_saturating(sites[i].offset - sites[rows->site].offset, 1)
		};
	rows->end_site = i;
}

static void find_part(struct profile_rows *rows)
{
	rows->calls = (struct profile_text){ 0 };
	if (rows->called)
		find_calls(rows);
	while (rows->end < rows->nr && rows->sorted[rows->end]->object == rows->object)
		rows->end++;
}

bool profile_rows_next_part(struct profile_rows *rows)
{
	rows->first = rows->end;
	rows->histogram = rows->first < rows->nr ? rows->sorted[rows->first] : NULL;
	rows->object = rows->histogram ? rows->histogram->object : UINT32_MAX;
	if (is_by_place(rows))
		find_part(rows);
	else
		rows->end += rows->histogram != NULL;
	profile_rows_restart(rows);
	return rows->nr_heap;
}

/* --- rows ------------------------------------------------------------------------------------- */

static void find_offset(const struct profile_rows *rows, struct profile_rows_source *source)
{
	if (source->next < source->end)
		source->offset = source->histogram ?
					 profile_bin_start(source->histogram, source->next) :
					 rows->profile->callers->sites[source->next].offset;
}

/* Places of calls come last. */
static bool comes_before(const struct profile_rows_source *a, const struct profile_rows_source *b)
{
	if (a->offset != b->offset)
		return a->offset < b->offset;
	return (uintptr_t)a->histogram - 1 < (uintptr_t)b->histogram - 1;
}

static void add_source(struct profile_rows *rows, const struct profile_rows_source *source)
{
	rows->heap[rows->nr_heap] = *source;
	find_offset(rows, &rows->heap[rows->nr_heap++]);
}

void profile_rows_restart(struct profile_rows *rows)
{
	size_t i;

	rows->nr_heap = rows->nr_chains = 0;
	rows->row.size = 0;
	for (i = rows->first; i < rows->end; i++)
		add_source(rows, &(struct profile_rows_source){ rows->sorted[i], 0,
								rows->sorted[i]->nr_bins, 0 });
	if (rows->site < rows->end_site)
		add_source(rows,
			   &(struct profile_rows_source){ NULL, rows->site, rows->end_site, 0 });
	for (i = rows->nr_heap / 2; i-- > 0;)
		HEAP_DOWN(rows->heap, rows->nr_heap, i, x, y, comes_before(x, y));
}

static void advance(struct profile_rows *rows, struct profile_rows_source *source)
{
	source->next++;
	if (!source->histogram)
		source->next = next_site(rows, source->next);
	if (source->next >= source->end)
		*source = rows->heap[--rows->nr_heap];
	else
		find_offset(rows, source);
	if (rows->nr_heap)
		HEAP_DOWN(rows->heap, rows->nr_heap, 0, x, y, comes_before(x, y));
}

static void make_row(struct profile_rows *rows, const struct profile_rows_source *source)
{
	const struct profile_histogram *histogram = source->histogram;
	struct profile_row *row = &rows->row;

	row->again = row->size && row->offset == source->offset;
	row->histogram = histogram;
	row->number = source->next;
	row->object = rows->object;
	row->offset = source->offset;
	row->size = histogram ? histogram->bytes_per_bin : 1;
	row->ticks = histogram ? histogram->bins[source->next].count : 0;
	row->node = PROFILE_NO_NODE;
	row->in_kernel = false;
}

const struct profile_row *profile_rows_next(struct profile_rows *rows)
{
	struct profile_row *row = &rows->row;

	if (rows->nr_chains) {
		row->again = true;
	} else {
		if (!rows->nr_heap)
			return NULL;
		make_row(rows, &rows->heap[0]);
		advance(rows, &rows->heap[0]);
		if (row->histogram && rows->order & PROFILE_ROWS_OF_CHAINS)
			rows->chain = profile_chains_of(rows->chains, row->histogram, row->number,
							&rows->nr_chains);
	}
	if (rows->nr_chains) {
		row->ticks = rows->chain->ticks;
		row->node = rows->chain->node;
		row->in_kernel = rows->chain->in_kernel;
		rows->chain++;
		rows->nr_chains--;
	}
	return row;
}

const struct profile_row *profile_rows_of_all(struct profile_rows *rows)
{
	const struct profile_row *row;

	do
		row = profile_rows_next(rows);
	while (!row && profile_rows_next_part(rows));
	return row;
}

struct profile_text profile_rows_extent(const struct profile_rows *rows)
{
	uint64_t start = rows->calls.size ? rows->calls.offset : UINT64_MAX;
	uint64_t end = add_saturating(rows->calls.offset, rows->calls.size);
	size_t i;

	for (i = rows->first; i < rows->end; i++) {
		const struct profile_histogram *histogram = rows->sorted[i];

		start = min_size(start, histogram->offset);
		end = max_size(end, add_saturating(histogram->offset, histogram->size));
	}
	return (struct profile_text){ start, start, end - start };
}

const struct profile_function *profile_rows_function(struct profile_rows *rows,
						     const struct profile_row *row)
{
	struct profile_row *named = &rows->named;

	if (named->object == row->object && named->size == row->size &&
	    row->offset >= named->offset && row->offset <= rows->last_named)
		return rows->function;
	*named = *row;
	rows->function = profile_index_find_up_to(rows->index, row->object, row->offset, row->size,
						  &rows->last_named);
	return rows->function;
}

struct tick_sum profile_rows_weigh(struct profile_rows *rows, const struct profile_row *row)
{
	const struct profile_histogram *histogram = row->histogram;
	double ns;

	if (rows->weighed != histogram) {
		rows->weighed = histogram;
		rows->weight = profile_weight(rows->weights, histogram);
		rows->variance = profile_tick_variance(rows->profile, histogram->target);
	}
	ns = (double)row->ticks * rows->weight;
	return (struct tick_sum){ row->ticks, ns, ns * rows->weight * rows->variance };
}

/* --- callers ---------------------------------------------------------------------------------- */

static int add_text(const struct profile_frames *frames, const struct profile_row *row,
		    uint32_t *context)
{
	uint32_t numbers[PROFILE_FRAMES_MAX];
	const size_t nr = frames->of_text(frames->of, row, numbers);
	size_t i;

	for (i = 0; i < nr; i++) {
		*context = chain_tree_child(frames->tree, *context, numbers[i]);
		if (!*context)
			return -ENOMEM;
	}
	return 0;
}

/* Parents have lower numbers than their children. */
uint32_t profile_rows_above(const struct profile_rows *rows, uint32_t node)
{
	const struct profile_callers *callers = rows->profile->callers;

	if (node != PROFILE_NO_NODE && callers->nodes[node].parent >= 0)
		return rows->contexts[callers->nodes[node].parent];
	return rows->cuts[profile_chain_end(rows->chains, node)];
}

static int add_node(struct profile_rows *rows, const struct profile_frames *frames, uint32_t i)
{
	const struct profile_callers *callers = rows->profile->callers;
	const uint32_t site = callers->nodes[i].site;
	struct profile_row row = { .number = site, .size = 1, .node = i };

	rows->contexts[i] = profile_rows_above(rows, i);
	if (site == PROFILE_SITE_KERNEL)
		return 0;
	row.object = callers->sites[site].object;
	row.offset = callers->sites[site].offset;
	return add_text(frames, &row, &rows->contexts[i]);
}

int profile_rows_add_callers(struct profile_rows *rows, const struct profile_frames *frames)
{
	const struct profile_callers *callers = rows->profile->callers;
	uint32_t i;
	int ret = 0;

	if (!callers)
		return 0;
	rows->contexts = calloc(callers->nr_nodes + 1, sizeof(*rows->contexts));
	if (!rows->contexts)
		return -ENOMEM;
	for (i = 0; i <= WALK_END_COUNT; i++) {
		if (!profile_cut_names[i])
			continue;
		rows->cuts[i] = chain_tree_child(frames->tree, 0, frames->of_cut(frames->of, i));
		if (!rows->cuts[i])
			return -ENOMEM;
	}
	for (i = 0; !ret && i < callers->nr_nodes; i++)
		ret = add_node(rows, frames, i);
	return ret;
}

int profile_rows_context(const struct profile_rows *rows, const struct profile_frames *frames,
			 const struct profile_row *row, uint32_t *context)
{
	const uint32_t above = *context = profile_rows_above(rows, row->node);

	if (add_text(frames, row, context))
		return -ENOMEM;
	if (!row->in_kernel || *context == above)
		return 0;
	*context = chain_tree_child(frames->tree, *context, frames->kernel);
	return *context ? 0 : -ENOMEM;
}
