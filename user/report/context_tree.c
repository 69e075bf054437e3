// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "report/context_tree.h"

#include <stdlib.h>

#include "base/util.h"

uint32_t context_tree_child(struct context_tree *tree, uint32_t parent, uint32_t frame)
{
	uint32_t child = chain_tree_child(&tree->contexts, parent, frame);
	size_t from = tree->room, i;

	if (!child || GROW(tree->sums, tree->room, tree->contexts.nr))
		return 0;
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
