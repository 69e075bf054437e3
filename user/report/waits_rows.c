// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Rows of waits: by the text that waited, or that called it, and by class. */
#include "report/context_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "profile/waits_view.h"

struct class_rows {
	const struct waits_view *waits;
	const struct context_tree *tree;
	const struct report_rows *from; /* by frame */
	struct chain_tree pairs; /* a class below the frame of its row + 1 */
	struct report_row *made; /* by pair, from 1 */
	size_t nr, room;
	uint32_t *seen; /* by frame: the last leaf whose chain has it */
};

/* The row of a frame and class; NULL: out of memory. frame from->nr: the place is unknown. */
static struct report_row *row_of(struct class_rows *rows, uint32_t frame, uint32_t class)
{
	const uint32_t pair = chain_tree_child(&rows->pairs, frame + 1, class);
	struct report_row *row;

	if (!pair || GROW(rows->made, rows->room, rows->pairs.nr))
		return NULL;
	row = &rows->made[pair];
	if (pair < rows->nr)
		return row;
	rows->nr = pair + 1;
	*row = frame < rows->from->nr ? rows->from->rows[frame] :
					(struct report_row){ .object = rows->waits->object,
							     .name = "[no place]",
							     .abstract = true };
	row->own = row->inclusive = (struct tick_sum){ 0 };
	row->inlined = 0;
	row->wait_class = rows->waits->classes[class];
	return row;
}

static int include_callers(struct class_rows *rows, uint32_t leaf, uint32_t class)
{
	const struct chain_context *all = rows->tree->contexts.all;
	const struct context_sum *sum = &rows->tree->sums[leaf];
	uint32_t at = all[leaf].parent;
	struct report_row *row;

	for (; at; at = all[at].parent) {
		const uint32_t frame = all[at].frame;

		if (frame >= rows->from->nr || rows->seen[frame] == leaf)
			continue;
		rows->seen[frame] = leaf;
		row = row_of(rows, frame, class);
		if (!row)
			return -ENOMEM;
		tick_sum_add(&row->inclusive, &sum->inclusive);
	}
	return 0;
}

/* The variance is as if all waits of a row were equally long. */
static void add_own(struct report_row *row, const struct context_sum *sum)
{
	tick_sum_add(&row->own, &sum->own);
	row->waits += sum->waits;
	row->own.squares = row->own.ns * row->own.ns / (row->waits ? (double)row->waits : 1);
}

/* The frame of the text that waited: the kernel's frames, with --mode split, are below it. */
static uint32_t place_of(const struct class_rows *rows, uint32_t leaf)
{
	const struct profile_object *objects = rows->waits->profile.objects;
	const struct chain_context *all = rows->tree->contexts.all;
	const uint32_t nr = (uint32_t)rows->from->nr;
	uint32_t at = all[leaf].parent, direct = at && all[at].frame < nr ? all[at].frame : nr;

	for (; at; at = all[at].parent)
		if (all[at].frame < nr &&
		    objects[rows->from->rows[all[at].frame].object].kind != PROFILE_KERNEL)
			return all[at].frame;
	return direct;
}

static int add_leaf(struct class_rows *rows, uint32_t leaf, uint32_t class)
{
	const struct context_sum *sum = &rows->tree->sums[leaf];
	const uint32_t nr = (uint32_t)rows->from->nr;
	struct report_row *row;
	uint32_t frame;

	if (sum->own.ticks || sum->waits) {
		frame = place_of(rows, leaf);
		row = row_of(rows, frame, class);
		if (!row)
			return -ENOMEM;
		add_own(row, sum);
		if (frame == nr)
			row->inclusive = row->own;
	}
	/* Chains deeper than PROFILE_CHAIN_DEPTH have no ticks, and a hostile file any depth. */
	return sum->inclusive.ticks ? include_callers(rows, leaf, class) : 0;
}

int rows_by_class(const struct waits_view *waits, const struct context_tree *tree,
		  struct report_rows *rows)
{
	cleanup_free uint32_t *seen = calloc(rows->nr + 1, sizeof(*seen));
	struct class_rows made = { .waits = waits, .tree = tree, .from = rows, .seen = seen };
	int ret = seen ? 0 : -ENOMEM;
	uint32_t i;

	for (i = 1; !ret && i < tree->contexts.nr; i++) {
		const uint32_t frame = tree->contexts.all[i].frame;

		if (frame < rows->nr && rows->rows[frame].object == waits->object)
			ret = add_leaf(&made, i, (uint32_t)rows->rows[frame].offset);
	}
	if (ret) {
		free(made.made);
	} else {
		free(rows->rows);
		rows->nr = made.nr ? made.nr - 1 : 0;
		rows->rows = made.made;
		rows->capacity = made.room;
		if (rows->nr)
			memmove(rows->rows, rows->rows + 1, rows->nr * sizeof(*rows->rows));
		rows->by_class = true;
	}
	/* Without chains, inclusive figures would only repeat those of the rows. */
	if (!ret && !waits->has_chains) {
		row_marks_free(rows->marks);
		rows->marks = NULL;
	}
	chain_tree_free(&made.pairs);
	return ret;
}
