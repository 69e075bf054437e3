// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Chains of callers as contexts of rows, and the inclusive ticks of each row. */
#include "report/chains.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "profile/profile_weights.h"
#include "report/chains_impl.h"

/* What one piece of text was inlined into; deeper inlining loses its outermost. */
#define INLINED_MAX 64

#define NO_ROW UINT32_MAX

struct mark_place {
	uint32_t object;
	uint64_t offset;
	uint64_t size;
};

/* What is known by mark. Marks begin with 1. */
struct mark {
	uint32_t next; /* of the same row; 0: this is the last */
	uint32_t outer; /* of what it was inlined into; 0: nothing */
	uint32_t row; /* once rows are combined */
};

struct row_marks {
	struct mark *all;
	size_t nr, room; /* with the one that is none */
	struct mark_place *places; /* of the first marks, ascending */
	size_t nr_places;
};

void rows_chains_free(struct row_marks *marks)
{
	if (!marks)
		return;
	free(marks->all);
	free(marks->places);
	free(marks);
}

/* --- marks -------------------------------------------------------------------------------------- */

/* The new mark; 0: out of memory. */
static uint32_t add_mark(struct row_marks *marks)
{
	void *array = marks->all;

	if (marks->nr >= INT32_MAX ||
	    grow(&array, &marks->room, marks->nr + 1, sizeof(*marks->all)))
		return 0;
	marks->all = array;
	marks->all[marks->nr] = (struct mark){ .row = NO_ROW };
	return (uint32_t)marks->nr++;
}

void rows_chains_join(struct row_marks *marks, struct report_row *sum, const struct report_row *row)
{
	marks->all[sum->last_mark].next = row->first_mark;
	sum->last_mark = row->last_mark;
}

static int add_site_rows(const struct profile *profile, const struct report_options *options,
			 struct report_rows *rows)
{
	const struct profile_callers *callers = profile->callers;
	struct report_row row = { .size = 1 };
	int ret = 0;
	size_t i;

	for (i = 0; !ret && i < callers->nr_sites; i++) {
		row.object = callers->sites[i].object;
		row.offset = callers->sites[i].offset;
		if (object_chosen(profile, options, row.object))
			ret = rows_add(rows, &row);
	}
	if (!ret)
		rows_merge(rows, row_compare_place);
	return ret;
}

int rows_chains_begin(const struct profile *profile, const struct report_options *options,
		      struct report_rows *rows)
{
	struct row_marks *marks;
	size_t i;

	if (add_site_rows(profile, options, rows))
		return -ENOMEM;
	marks = rows->marks = calloc(1, sizeof(*marks));
	if (!marks)
		return -ENOMEM;
	marks->places = calloc(rows->nr + 1, sizeof(*marks->places));
	marks->nr_places = rows->nr;
	add_mark(marks);
	for (i = 0; marks->places && i < rows->nr; i++) {
		struct report_row *row = &rows->rows[i];

		marks->places[i] = (struct mark_place){ row->object, row->offset, row->size };
		row->first_mark = row->last_mark = add_mark(marks);
		if (!row->first_mark)
			return -ENOMEM;
	}
	return marks->places ? 0 : -ENOMEM;
}

static int compare_mark_place(const struct mark_place *place, const struct report_row *text)
{
	if (place->object != text->object)
		return compare_u64(place->object, text->object);
	if (place->offset != text->offset)
		return compare_u64(place->offset, text->offset);
	return compare_u64(place->size, text->size);
}

/* 0: the options do not choose it. */
static uint32_t mark_of_place(const struct row_marks *marks, const struct report_row *text)
{
	const struct mark_place *places = marks->places;
	size_t at = BISECT(i, marks->nr_places, compare_mark_place(&places[i], text) < 0);

	if (at == marks->nr_places || compare_mark_place(&places[at], text))
		return 0;
	return (uint32_t)at + 1;
}

int rows_chains_add_inlined(struct report_rows *rows, void (*change)(struct report_row *row))
{
	struct row_marks *marks = rows->marks;
	const size_t nr = marks ? rows->nr : 0;
	const struct source_line *source;
	struct report_row row;
	uint32_t inner;
	size_t i, depth;

	for (i = 0; i < nr; i++) {
		source = rows->rows[i].source;
		inner = rows->rows[i].first_mark;
		for (depth = 1; source && source->caller && depth < INLINED_MAX; depth++) {
			source = source->caller;
			row = rows->rows[i];
			row.ticks = row.inlined = 0;
			row.ns = row.squares = 0;
			row.source = source;
			row.first_mark = row.last_mark = add_mark(marks);
			if (!row.first_mark)
				return -ENOMEM;
			marks->all[inner].outer = row.first_mark;
			inner = row.first_mark;
			if (change)
				change(&row);
			if (rows_add(rows, &row))
				return -ENOMEM;
		}
	}
	return 0;
}

static void find_rows(struct row_marks *marks, const struct report_rows *rows)
{
	uint32_t i, mark;

	for (i = 0; i < rows->nr; i++)
		for (mark = rows->rows[i].first_mark; mark; mark = marks->all[mark].next)
			marks->all[mark].row = i;
}

/* --- contexts ----------------------------------------------------------------------------------- */

uint32_t context_tree_child(struct context_tree *tree, uint32_t parent, uint32_t frame)
{
	uint32_t child = chain_tree_child(&tree->contexts, parent, frame);
	size_t from = tree->room, i;
	void *array = tree->sums;

	if (!child || grow(&array, &tree->room, tree->contexts.nr, sizeof(*tree->sums)))
		return 0;
	tree->sums = array;
	for (i = from; i < tree->room; i++)
		tree->sums[i] = (struct context_sum){ 0 };
	return child;
}

void context_tree_free(struct context_tree *tree)
{
	chain_tree_free(&tree->contexts);
	free(tree->sums);
}

void context_sum_add(struct context_sum *sum, const struct context_sum *part)
{
	sum->ticks += part->ticks;
	sum->ns += part->ns;
	sum->inclusive_ticks += part->inclusive_ticks;
	sum->inclusive_ns += part->inclusive_ns;
}

void context_tree_include(struct context_tree *tree)
{
	struct context_sum *sum;
	size_t i;

	for (i = 0; i < tree->contexts.nr; i++) {
		tree->sums[i].inclusive_ticks += tree->sums[i].ticks;
		tree->sums[i].inclusive_ns += tree->sums[i].ns;
	}
	for (i = tree->contexts.nr; i-- > 1;) {
		sum = &tree->sums[tree->contexts.all[i].parent];
		sum->inclusive_ticks += tree->sums[i].inclusive_ticks;
		sum->inclusive_ns += tree->sums[i].inclusive_ns;
	}
}

struct chains_build {
	const struct profile *profile;
	const struct report_options *options;
	struct report_rows *rows;
	struct row_marks *marks;
	struct profile_chains *chains;
	struct profile_weights *weights;
	uint32_t *contexts; /* by node: of the frames down to it */
	uint32_t cuts[WALK_END_COUNT + 1]; /* what chains of an end are below */
	struct context_tree tree;
};

/*
 * The context of text below another one, with what it was inlined into between them. Text of no row is
 * passed over.
 */
static int add_text(struct chains_build *build, const struct report_row *text, uint32_t *context)
{
	uint32_t frames[INLINED_MAX], mark = mark_of_place(build->marks, text);
	size_t nr = 0;

	for (; mark && nr < INLINED_MAX; mark = build->marks->all[mark].outer)
		if (build->marks->all[mark].row != NO_ROW)
			frames[nr++] = build->marks->all[mark].row;
	while (nr) {
		*context = context_tree_child(&build->tree, *context, frames[--nr]);
		if (!*context)
			return -ENOMEM;
	}
	return 0;
}

/* The context of the frames above a node, which are numbered before it. */
static uint32_t context_above(const struct chains_build *build, uint32_t node)
{
	const struct profile_callers *callers = build->profile->callers;

	if (node != PROFILE_NO_NODE && callers->nodes[node].parent >= 0)
		return build->contexts[callers->nodes[node].parent];
	return build->cuts[profile_chain_end(build->chains, node)];
}

static int make_contexts(struct chains_build *build)
{
	const struct profile_callers *callers = build->profile->callers;
	const uint32_t frame = (uint32_t)build->rows->nr + FRAME_CUT;
	struct report_row text = { .size = 1 };
	int ret = 0;
	uint32_t i;

	build->contexts = calloc(callers->nr_nodes + 1, sizeof(*build->contexts));
	if (!build->contexts)
		return -ENOMEM;
	for (i = 0; i <= WALK_END_COUNT; i++) {
		if (!profile_cut_names[i])
			continue;
		build->cuts[i] = context_tree_child(&build->tree, 0, frame + i);
		if (!build->cuts[i])
			return -ENOMEM;
	}
	for (i = 0; !ret && i < callers->nr_nodes; i++) {
		build->contexts[i] = context_above(build, i);
		if (callers->nodes[i].site == PROFILE_SITE_KERNEL)
			continue;
		text.object = callers->sites[callers->nodes[i].site].object;
		text.offset = callers->sites[callers->nodes[i].site].offset;
		ret = add_text(build, &text, &build->contexts[i]);
	}
	return ret;
}

/* What is not chosen is no frame: its ticks are of the last frame that called it, and not its own. */
static int count_bin(struct chains_build *build, const struct profile_histogram *histogram,
		     size_t i, double weight)
{
	const struct report_row text = { .object = histogram->object,
					 .offset = profile_bin_start(histogram, i),
					 .size = histogram->bytes_per_bin };
	const bool chosen = object_chosen(build->profile, build->options, histogram->object);
	const struct profile_chain *chain;
	uint32_t context, frame;
	struct context_sum sum;
	double ns;
	size_t nr;

	for (chain = profile_chains_of(build->chains, histogram, i, &nr); nr--; chain++) {
		frame = profile_chain_frame(build->chains, chain->node);
		context = context_above(build, frame);
		if (add_text(build, &text, &context))
			return -ENOMEM;
		if (!context || context == build->cuts[profile_chain_end(build->chains, frame)])
			continue;
		if (chosen && frame != chain->node) {
			context = context_tree_child(&build->tree, context,
						     (uint32_t)build->rows->nr + FRAME_KERNEL);
			if (!context)
				return -ENOMEM;
		}
		ns = (double)chain->ticks * weight;
		if (chosen)
			sum = (struct context_sum){ .ticks = chain->ticks, .ns = ns };
		else
			sum = (struct context_sum){ .inclusive_ticks = chain->ticks,
						    .inclusive_ns = ns };
		context_sum_add(&build->tree.sums[context], &sum);
	}
	return 0;
}

/* Whatever objects were chosen, all ticks count for those that called what they fell in. */
static int count_chains(struct chains_build *build)
{
	const struct profile *profile = build->profile;
	struct report_options everywhere = *build->options;
	int ret = make_contexts(build);
	size_t i, j;

	everywhere.nr_objects = 0;
	for (i = 0; !ret && i < profile->nr_histograms; i++) {
		const struct profile_histogram *histogram = &profile->histograms[i];

		if (!histogram_chosen(profile, &everywhere, histogram))
			continue;
		for (j = 0; !ret && j < histogram->nr_bins; j++)
			ret = count_bin(build, histogram, j,
					profile_weight(build->weights, histogram));
	}
	if (!ret)
		context_tree_include(&build->tree);
	return ret;
}

/* --- inclusive ticks ---------------------------------------------------------------------------- */

/* A walk over the tree, which knows of each row how often it is on the way to where it is. */
struct inclusion {
	const struct context_tree *tree;
	struct report_rows *rows;
	uint32_t *first, *next; /* by context: its first child; its parent's next one; 0: none */
	uint32_t *on; /* by row */
};

/* Only the outermost call of a recursive function counts. */
static void enter(struct inclusion *walk, uint32_t context)
{
	const uint32_t frame = walk->tree->contexts.all[context].frame;
	const struct context_sum *sum = &walk->tree->sums[context];

	if (frame >= walk->rows->nr || walk->on[frame]++)
		return;
	walk->rows->rows[frame].inclusive_ticks += sum->inclusive_ticks;
	walk->rows->rows[frame].inclusive_ns += sum->inclusive_ns;
}

static void leave(struct inclusion *walk, uint32_t context)
{
	const uint32_t frame = walk->tree->contexts.all[context].frame;

	if (frame < walk->rows->nr)
		walk->on[frame]--;
}

static void walk_tree(struct inclusion *walk)
{
	const struct chain_tree *contexts = &walk->tree->contexts;
	uint32_t at = walk->first[0];

	while (at) {
		enter(walk, at);
		if (walk->first[at]) {
			at = walk->first[at];
			continue;
		}
		leave(walk, at);
		while (at && !walk->next[at]) {
			at = contexts->all[at].parent;
			if (at)
				leave(walk, at);
		}
		at = at ? walk->next[at] : 0;
	}
}

static int include_rows(const struct context_tree *tree, struct report_rows *rows)
{
	const size_t nr = tree->contexts.nr;
	cleanup_free uint32_t *first = calloc(nr + 1, sizeof(*first));
	cleanup_free uint32_t *next = calloc(nr + 1, sizeof(*next));
	cleanup_free uint32_t *on = calloc(rows->nr + 1, sizeof(*on));
	struct inclusion walk = { tree, rows, first, next, on };
	uint32_t i;

	if (!first || !next || !on)
		return -ENOMEM;
	for (i = 1; i < nr; i++) {
		next[i] = first[tree->contexts.all[i].parent];
		first[tree->contexts.all[i].parent] = i;
	}
	walk_tree(&walk);
	return 0;
}

/* Sites of other targets or processes. */
static void drop_unused(struct report_rows *rows)
{
	size_t i, kept = 0;

	for (i = 0; i < rows->nr; i++)
		if (rows->rows[i].ticks || rows->rows[i].inclusive_ticks)
			rows->rows[kept++] = rows->rows[i];
	rows->nr = kept;
}

int rows_chains_finish(const struct profile *profile, const struct report_options *options,
		       struct report_rows *rows, struct error *err)
{
	struct chains_build build = { .profile = profile,
				      .options = options,
				      .rows = rows,
				      .marks = rows->marks,
				      .chains = profile_chains_new(profile, true),
				      .weights = profile_weights_new(profile) };
	int ret = build.chains && build.weights ? 0 : -ENOMEM;

	find_rows(rows->marks, rows);
	if (!ret)
		ret = count_chains(&build);
	if (!ret)
		ret = include_rows(&build.tree, rows);
	if (ret)
		error_errno(err, ret, "report");
	else if (options->tree)
		ret = rows_chains_view(profile, options, &build.tree, rows, err);
	else
		drop_unused(rows);
	profile_chains_free(build.chains);
	profile_weights_free(build.weights);
	free(build.contexts);
	context_tree_free(&build.tree);
	return ret;
}
