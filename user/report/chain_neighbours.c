// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The direct callers and callees of a function. */
#include "report/chain_view.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"

/* By frame: the wanted functions' sums by caller, and by callee. */
struct frame_sums {
	struct context_sum *callers, *callees;
};

static void add_inclusive(struct context_sum *sum, uint64_t ticks, double ns)
{
	sum->inclusive_ticks += ticks;
	sum->inclusive_ns += ns;
}

/* below: by context, its ticks and those below, down to the next wanted function. */
static void sum_neighbours(const struct chain_view *view, struct context_sum *below,
			   uint8_t *within, struct frame_sums *sums)
{
	const struct chain_context *contexts = view->source->contexts.all;
	const struct context_sum *sum = view->source->sums;
	const size_t nr = view->source->contexts.nr, first = view->frames->nr;
	size_t i;

	for (i = nr; i-- > 1;) {
		add_inclusive(&below[i], sum[i].ticks, sum[i].ns);
		if (!context_is_wanted(view, i))
			context_sum_add(&below[contexts[i].parent], &below[i]);
	}
	for (i = 1; i < nr; i++) {
		const uint32_t parent = contexts[i].parent;
		const bool wanted = context_is_wanted(view, i);

		within[i] = within[parent] || wanted;
		if (wanted && !within[parent])
			add_inclusive(&sums->callers[parent ? contexts[parent].frame :
							      first + FRAME_FIRST],
				      sum[i].inclusive_ticks, sum[i].inclusive_ns);
		if (wanted)
			add_inclusive(&sums->callees[first + FRAME_SELF], sum[i].ticks, sum[i].ns);
		else if (context_is_wanted(view, parent))
			add_inclusive(&sums->callees[contexts[i].frame], below[i].inclusive_ticks,
				      below[i].inclusive_ns);
	}
}

/* Appends a row for each frame with ticks, hottest first. */
static int put_neighbours(const struct report_rows *frames, const struct context_sum *sums,
			  size_t nr, struct report_rows *made)
{
	struct report_rows part = { 0 };
	struct report_row row;
	int ret = 0;
	uint32_t i;

	for (i = 0; !ret && i < nr; i++) {
		row = chain_row(frames, i, &sums[i]);
		ret = row.inclusive_ticks ? rows_add(&part, &row) : 0;
	}
	rows_sort(&part, true, 0);
	for (i = 0; !ret && i < part.nr; i++)
		ret = rows_add(made, &part.rows[i]);
	free(part.rows);
	return ret;
}

/* Adds the row of the function. If several match, they share a row with the given name. */
static int put_chosen(const struct chain_view *view, struct report_rows *made)
{
	const struct context_tree *tree = &view->made;
	struct report_row row = { 0 };
	size_t i, nr = 0;

	for (i = 1; i < tree->contexts.nr; i++) {
		struct context_sum sum = tree->sums[i];

		if (tree->contexts.all[i].parent)
			continue;
		add_inclusive(&sum, row.inclusive_ticks, row.inclusive_ns);
		row = chain_row(view->frames, tree->contexts.all[i].frame, &sum);
		nr++;
	}
	if (nr > 1) {
		row.name = view->options->function;
		row.abstract = true;
		row.recursion = 0;
	}
	return rows_add(made, &row);
}

int chain_neighbours(const struct chain_view *view, struct report_rows *rows)
{
	const size_t room = view->source->contexts.nr + 1;
	const size_t nr = view->frames->nr + FRAME_CUT + WALK_END_COUNT + 1;
	cleanup_free struct context_sum *below = calloc(room, sizeof(*below));
	cleanup_free uint8_t *within = calloc(room, sizeof(*within));
	cleanup_free struct context_sum *callers = calloc(nr, sizeof(*callers));
	cleanup_free struct context_sum *callees = calloc(nr, sizeof(*callees));
	struct frame_sums sums = { callers, callees };
	struct report_rows made = { 0 };
	int ret;

	if (!below || !within || !callers || !callees)
		return -ENOMEM;
	sum_neighbours(view, below, within, &sums);
	ret = put_neighbours(rows, callers, nr, &made);
	rows->nr_callers = made.nr;
	if (!ret)
		ret = put_chosen(view, &made);
	if (!ret)
		ret = put_neighbours(rows, callees, nr, &made);
	rows->neighbours = made.rows;
	rows->nr_neighbours = made.nr;
	return ret;
}

static struct context_sum sum_of_row(const struct report_row *row)
{
	return (struct context_sum){ .ticks = row->ticks,
				     .ns = row->ns,
				     .squares = row->squares,
				     .inclusive_ticks = row->inclusive_ticks,
				     .inclusive_ns = row->inclusive_ns,
				     .inclusive_squares = row->inclusive_squares };
}

/* Puts each function on top with its own sums; ids gets the context of each call below it. */
static int find_calls(struct chain_view *view, uint32_t *ids)
{
	const struct chain_tree *contexts = &view->source->contexts;
	const size_t nr = view->frames->nr;
	uint32_t i, at;

	for (i = 0; i < nr; i++) {
		at = context_tree_child(&view->made, 0, i);
		if (!at)
			return -ENOMEM;
		view->made.sums[at] = sum_of_row(&view->frames->rows[i]);
	}
	for (i = 0; i < contexts->nr; i++) {
		ids[i] = NO_ROW;
		if (!i || !contexts->all[i].parent || contexts->all[i].frame >= nr)
			continue;
		at = context_tree_child(&view->made, 0, contexts->all[i].frame);
		ids[i] = context_tree_child(&view->made, at,
					    contexts->all[contexts->all[i].parent].frame);
		if (!ids[i])
			return -ENOMEM;
	}
	return 0;
}

int chain_calls(struct chain_view *view)
{
	cleanup_free uint32_t *ids = calloc(view->source->contexts.nr + 1, sizeof(*ids));
	int ret = ids ? find_calls(view, ids) : -ENOMEM;

	return ret ? ret :
		     context_tree_sum(view->source, ids, view->made.contexts.nr, view->made.sums);
}
