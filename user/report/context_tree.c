// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "report/context_tree.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"

int context_tree_grow(struct context_tree *tree)
{
	size_t from = tree->room, i;

	if (GROW(tree->sums, tree->room, tree->contexts.nr))
		return -ENOMEM;
	for (i = from; i < tree->room; i++)
		tree->sums[i] = (struct context_sum){ 0 };
	return 0;
}

uint32_t context_tree_child(struct context_tree *tree, uint32_t parent, uint32_t frame)
{
	uint32_t child = chain_tree_child(&tree->contexts, parent, frame);

	return child && !context_tree_grow(tree) ? child : 0;
}

void context_tree_free(struct context_tree *tree)
{
	chain_tree_free(&tree->contexts);
	free(tree->sums);
}

void context_tree_include(struct context_tree *tree)
{
	struct context_sum *sums = tree->sums;
	size_t i;

	for (i = 0; i < tree->contexts.nr; i++)
		tick_sum_add(&sums[i].inclusive, &sums[i].own);
	for (i = tree->contexts.nr; i-- > 1;)
		tick_sum_add(&sums[tree->contexts.all[i].parent].inclusive, &sums[i].inclusive);
}

/* A walk over the tree that counts how often each id is on the current path. */
struct inclusion {
	const struct context_tree *tree;
	const uint32_t *ids;
	struct context_sum *sums;
	uint32_t *first, *next; /* by context: its first child, its next sibling; 0: none */
	uint32_t *on; /* by id */
};

static void enter(struct inclusion *walk, uint32_t context)
{
	const uint32_t id = walk->ids[context];

	if (id != NO_ROW && !walk->on[id]++)
		tick_sum_add(&walk->sums[id].inclusive, &walk->tree->sums[context].inclusive);
}

static void leave(struct inclusion *walk, uint32_t context)
{
	if (walk->ids[context] != NO_ROW)
		walk->on[walk->ids[context]]--;
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

int context_tree_sum(const struct context_tree *tree, const uint32_t *ids, size_t nr_ids,
		     struct context_sum *sums)
{
	const size_t nr = tree->contexts.nr;
	cleanup_free uint32_t *first = calloc(nr + 1, sizeof(*first));
	cleanup_free uint32_t *next = calloc(nr + 1, sizeof(*next));
	cleanup_free uint32_t *on = calloc(nr_ids + 1, sizeof(*on));
	struct inclusion walk = { tree, ids, sums, first, next, on };
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
