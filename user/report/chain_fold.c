// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Folds recursion in chains, of one function or of several that call each other, into a single
 * round.
 */
#include "report/chain_view.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"

/* Limit of functions in a round, as on the page. */
#define FOLD_PERIOD 8

struct chain_fold {
	const struct chain_view *view;
	struct context_tree *folded;
	uint32_t *images; /* by context: its counterpart in the folded tree, */
	uint32_t *times; /* and the depth of recursion there, if it was folded */
	struct context_sum *hidden; /* by context: inclusive ticks in text without rows */
	bool *counts; /* by context: recursion up to there belongs to a row */
};

/*
 * Returns the period if the chain would repeat itself, as in f, g, f and now g: 2; 0: it does not.
 */
static uint32_t repeats(const struct chain_tree *tree, uint32_t node, uint32_t frame)
{
	uint32_t last[2 * FOLD_PERIOD] = { frame }, nr = 1, period, same;

	for (; node && nr < 2 * FOLD_PERIOD; node = tree->all[node].parent)
		last[nr++] = tree->all[node].frame;
	for (period = 1; 2 * period <= nr; period++) {
		for (same = 0; same < period && last[same] == last[same + period];)
			same++;
		if (same == period)
			return period;
	}
	return 0;
}

static uint32_t climb(const struct chain_tree *tree, uint32_t node, uint32_t levels)
{
	while (levels--)
		node = tree->all[node].parent;
	return node;
}

/* For callees, the innermost call of the function is on top. Rounds must not go through it. */
static bool goes_through_wanted(const struct chain_fold *fold, uint32_t node, uint32_t period)
{
	const struct chain_tree *tree = &fold->folded->contexts;

	if (fold->view->options->tree != TREE_CALLEES)
		return false;
	for (; period--; node = tree->all[node].parent)
		if (frame_is_wanted(fold->view, tree->all[node].frame))
			return true;
	return false;
}

/* Sets the image of a context whose parent has one. */
static int enter(struct chain_fold *fold, uint32_t context)
{
	const struct chain_tree *tree = &fold->folded->contexts;
	const struct chain_context *contexts = fold->view->source->contexts.all;
	const uint32_t above = fold->images[contexts[context].parent];
	const uint32_t frame = contexts[context].frame;
	const uint32_t period = repeats(tree, above, frame);
	uint32_t last = contexts[context].parent;

	fold->times[context] = 1;
	if (!period || (period > 1 && goes_through_wanted(fold, above, period))) {
		fold->images[context] = context_tree_child(fold->folded, above, frame);
		return fold->images[context] ? 0 : -ENOMEM;
	}
	fold->images[context] = climb(tree, above, period - 1);
	while (fold->images[last] != fold->images[context])
		last = contexts[last].parent;
	fold->times[context] = fold->times[last] + 1;
	return 0;
}

/* Adds the sum of a context to its image. */
static void count(struct chain_fold *fold, uint32_t context)
{
	const struct context_sum *from = &fold->view->source->sums[context];
	struct context_sum sum = { .ticks = from->ticks, .ns = from->ns, .squares = from->squares };
	struct context_sum *to = &fold->folded->sums[fold->images[context]];

	if (fold->hidden[context].inclusive_ticks) {
		sum.inclusive_ticks = fold->hidden[context].inclusive_ticks;
		sum.inclusive_ns = fold->hidden[context].inclusive_ns;
	}
	context_sum_add(to, &sum);
	if (fold->counts[context] && fold->times[context] > 1 &&
	    fold->times[context] > to->recursion)
		to->recursion = fold->times[context];
}

/* Finds inclusive ticks that neither the context itself nor those below it have. */
static void find_hidden(struct chain_fold *fold)
{
	const struct context_tree *source = fold->view->source;
	struct context_sum *at, *above;
	size_t i;

	for (i = source->contexts.nr; i-- > 1;) {
		at = &fold->hidden[i];
		above = &fold->hidden[source->contexts.all[i].parent];
		at->inclusive_ticks += source->sums[i].inclusive_ticks - source->sums[i].ticks;
		at->inclusive_ns += source->sums[i].inclusive_ns - source->sums[i].ns;
		above->inclusive_ticks -= source->sums[i].inclusive_ticks;
		above->inclusive_ns -= source->sums[i].inclusive_ns;
	}
}

/* For callers, only recursion that led to a wanted function belongs to a row. */
static void find_counting(struct chain_fold *fold)
{
	const struct chain_view *view = fold->view;
	size_t i;

	for (i = view->source->contexts.nr; i-- > 1;) {
		fold->counts[i] |= view->options->tree != TREE_CALLERS ||
				   context_is_wanted(view, (uint32_t)i);
		fold->counts[view->source->contexts.all[i].parent] |= fold->counts[i];
	}
}

int chain_fold(const struct chain_view *view, struct context_tree *folded)
{
	const size_t nr = view->source->contexts.nr;
	cleanup_free uint32_t *images = calloc(nr + 1, sizeof(*images));
	cleanup_free uint32_t *times = calloc(nr + 1, sizeof(*times));
	cleanup_free struct context_sum *hidden = calloc(nr + 1, sizeof(*hidden));
	cleanup_free bool *counts = calloc(nr + 1, sizeof(*counts));
	struct chain_fold fold = { view, folded, images, times, hidden, counts };
	uint32_t i;

	if (!images || !times || !hidden || !counts)
		return -ENOMEM;
	find_hidden(&fold);
	find_counting(&fold);
	for (i = 1; i < nr; i++) {
		if (enter(&fold, i))
			return -ENOMEM;
		count(&fold, i);
	}
	context_tree_include(folded);
	return 0;
}
