// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/engine/spill.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

static size_t window_bytes(const struct spilled_window *window)
{
	return sizeof(*window) + window->nr * sizeof(*window->bins);
}

/* Room for the bins of a window's next page, so that none is taken that cannot be kept. */
static int reserve_bins(struct spilled_window *window, size_t *capacity)
{
	return GROW(window->bins, *capacity, window->nr + PAGE_COUNTERS);
}

static int take_pages(const struct counted *counted, uint32_t dir, struct spilled_window *window,
		      size_t *capacity)
{
	struct counter_page *counters;
	uint64_t sums[PAGE_COUNTERS];
	uint32_t page, number, i;

	for (page = 0; page < WINDOW_PAGES; page++) {
		counters = counted_page(counted, dir, page, &number);
		if (!counters)
			continue;
		if (reserve_bins(window, capacity))
			return -ENOMEM;
		memset(sums, 0, sizeof(sums));
		counted_add(counted, window->key.target, counters, number, sums);
		for (i = 0; i < PAGE_COUNTERS; i++)
			if (sums[i])
				window->bins[window->nr++] =
					(struct spilled_bin){ page << PAGE_SHIFT_COUNTERS | i,
							      sums[i] };
	}
	return 0;
}

int spill_window(struct spill *spill, const struct counted *counted, const struct window_key *key,
		 uint32_t dir)
{
	struct spilled_window window = { .key = *key };
	struct spilled_bin *fitting;
	size_t capacity = 0;
	int ret;

	if (GROW(spill->list, spill->capacity, spill->nr + 1))
		return -ENOMEM;
	ret = take_pages(counted, dir, &window, &capacity);
	if (!window.nr) {
		free(window.bins);
		return ret;
	}
	fitting = realloc(window.bins, window.nr * sizeof(*window.bins));
	window.bins = fitting ? fitting : window.bins;
	spill->list[spill->nr++] = window;
	spill->bytes += window_bytes(&window);
	return ret;
}

static int compare_spilled_windows(const void *left, const void *right)
{
	const struct spilled_window *a = left, *b = right;

	return memcmp(&a->key, &b->key, sizeof(a->key));
}

static int compare_spilled_bins(const void *left, const void *right)
{
	const struct spilled_bin *a = left, *b = right;

	return compare_u64(a->index, b->index);
}

static void join_bins(struct spilled_window *window)
{
	struct spilled_bin *bins = window->bins;
	size_t from, to = 0;

	SORT(bins, window->nr, compare_spilled_bins);
	for (from = 0; from < window->nr; from++) {
		if (to && bins[to - 1].index == bins[from].index)
			bins[to - 1].count += bins[from].count;
		else
			bins[to++] = bins[from];
	}
	window->nr = to;
}

/* Moves the bins of list[1..nr) to list[0]. */
static int join_windows(struct spilled_window *list, size_t nr)
{
	struct spilled_bin *bins;
	size_t i, sum = 0;

	for (i = 0; i < nr; i++)
		sum += list[i].nr;
	bins = realloc(list->bins, sum * sizeof(*bins));
	if (!bins)
		return -ENOMEM;
	list->bins = bins;
	for (i = 1; i < nr; i++) {
		memcpy(bins + list->nr, list[i].bins, list[i].nr * sizeof(*bins));
		list->nr += list[i].nr;
		free(list[i].bins);
	}
	join_bins(list);
	return 0;
}

int spill_compact(struct spill *spill)
{
	struct spilled_window *list = spill->list;
	size_t from, nr, i, to = 0, bytes = 0;
	int ret = 0;

	SORT(list, spill->nr, compare_spilled_windows);
	for (from = 0; from < spill->nr; from += nr) {
		for (nr = 1; from + nr < spill->nr; nr++)
			if (compare_spilled_windows(&list[from], &list[from + nr]))
				break;
		if (nr > 1 && !join_windows(&list[from], nr))
			list[to++] = list[from];
		else
			for (i = 0, ret = nr > 1 ? -ENOMEM : ret; i < nr; i++)
				list[to++] = list[from + i];
	}
	spill->nr = to;
	for (i = 0; i < to; i++)
		bytes += window_bytes(&list[i]);
	spill->bytes = bytes;
	return ret;
}

void spill_clear(struct spill *spill)
{
	size_t i;

	for (i = 0; i < spill->nr; i++)
		free(spill->list[i].bins);
	free(spill->list);
	*spill = (struct spill){ 0 };
}
