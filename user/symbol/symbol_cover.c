// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/symbol_cover.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/util.h"

/*
 * A sweep over the starts of the intervals. A heap holds those that may still be open, and its top
 * is the one that names the current place. An interval that has ended leaves the heap only when it
 * reaches the top.
 */
struct sweep {
	const struct cover_interval *intervals;
	enum symbol_overlap overlap;
	uint32_t *heap;
	size_t nr_open;
	struct cover cover;
	uint64_t at;
};

static bool is_above(const struct sweep *sweep, uint32_t a, uint32_t b)
{
	const struct cover_interval *x = &sweep->intervals[a], *y = &sweep->intervals[b];

	if (sweep->overlap == SYMBOL_LATEST)
		return x->order > y->order;
	return x->start != y->start ? x->start > y->start : a < b;
}

static void heap_push(struct sweep *sweep, uint32_t interval)
{
	size_t hole = sweep->nr_open++;

	while (hole && is_above(sweep, interval, sweep->heap[(hole - 1) / 2])) {
		sweep->heap[hole] = sweep->heap[(hole - 1) / 2];
		hole = (hole - 1) / 2;
	}
	sweep->heap[hole] = interval;
}

static void heap_pop(struct sweep *sweep)
{
	uint32_t last = sweep->heap[--sweep->nr_open];
	size_t hole = 0, child;

	while ((child = 2 * hole + 1) < sweep->nr_open) {
		if (child + 1 < sweep->nr_open &&
		    is_above(sweep, sweep->heap[child + 1], sweep->heap[child]))
			child++;
		if (!is_above(sweep, sweep->heap[child], last))
			break;
		sweep->heap[hole] = sweep->heap[child];
		hole = child;
	}
	sweep->heap[hole] = last;
}

static void begin_piece(struct sweep *sweep, uint32_t symbol)
{
	struct cover *cover = &sweep->cover;

	if (cover->nr && cover->pieces[cover->nr - 1].symbol == symbol)
		return;
	cover->pieces[cover->nr].start = sweep->at;
	cover->pieces[cover->nr].symbol = symbol;
	cover->nr++;
}

static void sweep_to(struct sweep *sweep, uint64_t target)
{
	while (sweep->nr_open && sweep->at < target) {
		const struct cover_interval *top = &sweep->intervals[sweep->heap[0]];

		if (top->end <= sweep->at) {
			heap_pop(sweep);
			continue;
		}
		begin_piece(sweep, top->symbol);
		sweep->at = top->end < target ? top->end : target;
	}
	if (sweep->at < target)
		begin_piece(sweep, COVER_NONE);
	sweep->at = target;
}

int cover_build(const struct cover_interval *intervals, size_t nr, enum symbol_overlap overlap,
		struct cover *result)
{
	struct sweep sweep = { .intervals = intervals, .overlap = overlap };
	struct cover_piece *fitted;
	size_t i;

	/* A piece starts where an interval starts or ends, at 0, or at the very end. */
	sweep.cover.pieces = malloc((2 * nr + 2) * sizeof(*sweep.cover.pieces));
	sweep.heap = calloc(nr + 1, sizeof(*sweep.heap));
	if (!sweep.cover.pieces || !sweep.heap) {
		free(sweep.heap);
		free(sweep.cover.pieces);
		return -ENOMEM;
	}
	for (i = 0; i < nr; i++) {
		sweep_to(&sweep, intervals[i].start);
		heap_push(&sweep, (uint32_t)i);
	}
	sweep_to(&sweep, UINT64_MAX);
	begin_piece(&sweep, COVER_NONE);
	free(sweep.heap);
	fitted = realloc(sweep.cover.pieces, sweep.cover.nr * sizeof(*fitted));
	if (fitted)
		sweep.cover.pieces = fitted;
	*result = sweep.cover;
	return 0;
}

void cover_free(struct cover *cover)
{
	free(cover->pieces);
	cover->pieces = NULL;
	cover->nr = 0;
}

size_t cover_find(const struct cover *cover, uint64_t offset)
{
	size_t behind = BISECT(i, cover->nr, cover->pieces[i].start <= offset);

	return behind ? behind - 1 : 0;
}
