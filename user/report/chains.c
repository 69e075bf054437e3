// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Chains of callers as contexts of rows, and the inclusive ticks of each row. */
#include "report/rows.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "profile/profile_weights.h"
#include "report/context_tree.h"
#include "report/row_marks.h"

static void find_rows(struct row_marks *marks, const struct report_rows *rows)
{
	uint32_t i;

	for (i = 0; i < rows->nr; i++)
		row_marks_set_row(marks, rows->rows[i].first_mark, i);
}

struct chains_build {
	const struct profile *profile;
	const struct report_options *options;
	struct report_rows *rows;
	struct row_marks *marks;
	struct profile_chains *chains;
	struct profile_weights *weights;
	struct context_tree tree;
};

/*
 * The context of text below another one, with what it was inlined into between them. Text of no row is
 * passed over.
 */
static int add_text(struct chains_build *build, const struct mark_place *text, uint32_t *context)
{
	uint32_t frames[INLINED_MAX], mark = row_marks_find(build->marks, text);
	size_t nr = 0;

	for (; mark && nr < INLINED_MAX; mark = row_marks_outer(build->marks, mark))
		if (row_marks_row(build->marks, mark) != NO_ROW)
			frames[nr++] = row_marks_row(build->marks, mark);
	while (nr) {
		*context = context_tree_child(&build->tree, *context, frames[--nr]);
		if (!*context)
			return -ENOMEM;
	}
	return 0;
}

static int add_cut(void *of, enum walk_end end, uint32_t *context)
{
	struct chains_build *build = of;

	*context = context_tree_child(&build->tree, *context,
				      (uint32_t)build->rows->nr + FRAME_CUT + end);
	return *context ? 0 : -ENOMEM;
}

static int add_site(void *of, const struct profile_site *site, uint32_t *context)
{
	const struct mark_place text = { .object = site->object,
					 .offset = site->offset,
					 .size = 1 };

	return add_text(of, &text, context);
}

/* What is not chosen is no frame: its ticks are of the last frame that called it, and not its own. */
static int count_bin(struct chains_build *build, const struct profile_histogram *histogram,
		     size_t i, double weight, double variance)
{
	const struct mark_place text = { .object = histogram->object,
					 .offset = profile_bin_start(histogram, i),
					 .size = histogram->bytes_per_bin };
	const bool chosen = object_chosen(build->profile, build->options, histogram->object);
	const struct profile_chain *chain;
	uint32_t context;
	struct context_sum sum;
	double ns, squares;
	size_t nr;

	for (chain = profile_chains_of(build->chains, histogram, i, &nr); nr--; chain++) {
		context = profile_chain_above(build->chains, chain->node);
		if (add_text(build, &text, &context))
			return -ENOMEM;
		if (context == profile_chain_cut(build->chains, chain->node))
			continue;
		if (chosen && chain->in_kernel) {
			context = context_tree_child(&build->tree, context,
						     (uint32_t)build->rows->nr + FRAME_KERNEL);
			if (!context)
				return -ENOMEM;
		}
		ns = (double)chain->ticks * weight;
		squares = ns * weight * variance;
		if (chosen)
			sum = (struct context_sum){ .ticks = chain->ticks,
						    .ns = ns,
						    .squares = squares };
		else
			sum = (struct context_sum){ .inclusive_ticks = chain->ticks,
						    .inclusive_ns = ns,
						    .inclusive_squares = squares };
		context_sum_add(&build->tree.sums[context], &sum);
	}
	return 0;
}

/* Whatever objects were chosen, all ticks count for those that called what they fell in. */
static int count_chains(struct chains_build *build)
{
	const struct profile *profile = build->profile;
	struct report_options everywhere = *build->options;
	const struct chain_frames frames = { add_cut, add_site, build };
	int ret = profile_chains_add_contexts(build->chains, &frames);
	size_t i, j;

	everywhere.nr_objects = 0;
	for (i = 0; !ret && i < profile->nr_histograms; i++) {
		const struct profile_histogram *histogram = &profile->histograms[i];

		if (!histogram_chosen(profile, &everywhere, histogram))
			continue;
		for (j = 0; !ret && j < histogram->nr_bins; j++)
			ret = count_bin(build, histogram, j,
					profile_weight(build->weights, histogram),
					profile_tick_variance(profile, histogram->target));
	}
	if (!ret)
		context_tree_include(&build->tree);
	return ret;
}

/* --- inclusive ticks ---------------------------------------------------------------------------- */

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
	for (i = 0; i < rows->nr; i++) {
		rows->rows[i].inclusive_ticks = sums[i].inclusive_ticks;
		rows->rows[i].inclusive_ns = sums[i].inclusive_ns;
		rows->rows[i].inclusive_squares = sums[i].inclusive_squares;
	}
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
				      .chains = profile_chains_new(profile),
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
	context_tree_free(&build.tree);
	return ret;
}
