// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Counts chains of callers as contexts of rows, and finds the inclusive ticks of each row. */
#include "report/rows.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "profile/waits_view.h"
#include "report/context_tree.h"
#include "report/row_marks.h"

static void find_rows(struct row_marks *marks, const struct report_rows *rows)
{
	uint32_t i, mark;

	for (i = 0; i < rows->nr; i++)
		for (mark = rows->rows[i].first_mark; mark; mark = marks->all[mark].next)
			marks->all[mark].row = i;
}

struct chains_build {
	const struct report_options *options;
	struct report_rows *rows;
	struct context_tree tree;
};

/* Returns the row of the text, with the rows that inlined it. Text without a row is skipped. */
static size_t frames_of_text(void *of, const struct profile_row *text, uint32_t *frames)
{
	const struct chains_build *build = of;
	const struct row_marks *marks = build->rows->marks;
	const struct mark_place place = { text->object, text->offset, text->size };
	uint32_t inner[INLINED_MAX], mark = row_marks_find(marks, &place);
	size_t nr = 0, i;

	for (; mark && nr < INLINED_MAX; mark = marks->all[mark].outer)
		if (marks->all[mark].row != NO_ROW)
			inner[nr++] = marks->all[mark].row;
	for (i = 0; i < nr; i++)
		frames[i] = inner[nr - 1 - i];
	return nr;
}

static uint32_t frame_of_cut(void *of, enum walk_end end)
{
	const struct chains_build *build = of;

	return (uint32_t)build->rows->nr + FRAME_CUT + end;
}

/* The object of the ticks: for waits, that of the text that waited. */
static uint32_t object_of(const struct chains_build *build, const struct profile_row *row)
{
	const struct profile *profile = build->rows->from.profile;
	const struct profile_callers *callers = profile->callers;
	int32_t at = row->node == PROFILE_NO_NODE ? -1 : callers->nodes[row->node].parent;
	uint32_t object = row->object, site;

	for (; build->options->waits && at >= 0; at = callers->nodes[at].parent) {
		site = callers->nodes[at].site;
		if (site == PROFILE_SITE_KERNEL)
			continue;
		object = callers->sites[site].object;
		if (profile->objects[object].kind != PROFILE_KERNEL)
			break;
	}
	return object;
}

/*
 * Objects that were not chosen are not frames: their ticks are inclusive ticks of the last chosen
 * frame.
 */
static void count_row(struct chains_build *build, const struct profile_row *row, uint32_t context)
{
	struct profile_rows *from = &build->rows->from;
	struct context_sum *sum = &build->tree.sums[context];
	const struct tick_sum part = profile_rows_weigh(from, row);

	if (build->options->waits && row->node != PROFILE_NO_NODE)
		sum->waits += from->profile->callers->nodes[row->node].waits;
	if (object_chosen(from->profile, build->options, object_of(build, row)))
		tick_sum_add(&sum->own, &part);
	else
		tick_sum_add(&sum->inclusive, &part);
}

static int count_chains(struct chains_build *build)
{
	struct profile_rows *from = &build->rows->from;
	const struct profile_frames frames = { .tree = &build->tree.contexts,
					       .of_text = frames_of_text,
					       .of_cut = frame_of_cut,
					       .kernel = (uint32_t)build->rows->nr + FRAME_KERNEL,
					       .of = build };
	const struct profile_row *row;
	uint32_t context;
	int ret = profile_rows_add_callers(from, &frames);

	profile_rows_start(from, PROFILE_ROWS_OF_CHAINS);
	while (!ret && (row = profile_rows_of_all(from))) {
		ret = profile_rows_context(from, &frames, row, &context);
		if (ret || !context ||
		    build->tree.contexts.all[context].frame >= frame_of_cut(build, 0))
			continue;
		ret = context_tree_grow(&build->tree);
		if (!ret)
			count_row(build, row, context);
	}
	if (!ret)
		ret = context_tree_grow(&build->tree);
	if (!ret)
		context_tree_include(&build->tree);
	return ret;
}

/* --- inclusive ticks -------------------------------------------------------------------------- */

static int include_rows(const struct context_tree *tree, struct report_rows *rows)
{
	const size_t nr = tree->contexts.nr;
	cleanup_free uint32_t *ids = calloc(nr + 1, sizeof(*ids));
	cleanup_free struct context_sum *sums = calloc(rows->nr + 1, sizeof(*sums));
	size_t i;

	if (!ids || !sums)
		return -ENOMEM;
	for (i = 1; i < nr; i++) {
		ids[i] = tree->contexts.all[i].frame;
		if (ids[i] >= rows->nr)
			ids[i] = NO_ROW;
	}
	if (context_tree_sum(tree, ids, rows->nr, sums))
		return -ENOMEM;
	for (i = 0; i < rows->nr; i++)
		rows->rows[i].inclusive = sums[i].inclusive;
	return 0;
}

/* Drops rows without ticks here: sites of other targets or processes. */
static void drop_unused(struct report_rows *rows)
{
	size_t i, kept = 0;

	for (i = 0; i < rows->nr; i++)
		if (rows->rows[i].own.ticks || rows->rows[i].inclusive.ticks)
			rows->rows[kept++] = rows->rows[i];
	rows->nr = kept;
}

int rows_chains_finish(const struct profile *profile, const struct report_options *options,
		       struct report_rows *rows, struct error *err)
{
	struct chains_build build = { .options = options, .rows = rows };
	int ret;

	find_rows(rows->marks, rows);
	ret = count_chains(&build);
	if (!ret)
		ret = options->waits && !options->tree ?
			      rows_by_class(options->waits, &build.tree, rows) :
			      include_rows(&build.tree, rows);
	if (ret)
		error_errno(err, ret, "report");
	else if (options->tree)
		ret = rows_chains_view(profile, options, &build.tree, rows, err);
	else
		drop_unused(rows);
	context_tree_free(&build.tree);
	return ret;
}
