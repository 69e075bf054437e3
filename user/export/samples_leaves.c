// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Reduces the stacks of a service: ticks of the coldest leaves of its call tree move to their
 * callers. All callers keep their inclusive ticks; only their callees are lost.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "export/samples_impl.h"

/* A stack of a process, or one above it without ticks of its own yet. */
struct stack_node {
	struct sample sample;
	uint32_t parent; /* 0: no caller that is text */
	uint32_t children; /* remaining ones */
};

struct stack_tree {
	const struct samples *samples;
	struct chain_tree stacks; /* pairs of callers and a place */
	struct chain_tree numbers; /* pairs of a stack and a process; they number the nodes */
	struct stack_node *nodes; /* from 1 */
	size_t nr, room;
	uint32_t *heap; /* of leaves with a caller, the coldest on top */
	size_t nr_heap;
};

/* Returns the number of the sample's node, and adds it if it is new; 0: out of memory. */
static uint32_t find_node(struct stack_tree *tree, const struct sample *sample, bool *is_new)
{
	const uint32_t stack = chain_tree_child(&tree->stacks, sample->callers, sample->place);
	const uint32_t number = stack ? chain_tree_child(&tree->numbers, stack, sample->process) :
					0;

	if (!number || GROW(tree->nodes, tree->room, number + 1))
		return 0;
	*is_new = number > tree->nr;
	if (*is_new) {
		tree->nr = number;
		tree->nodes[number] = (struct stack_node){ .sample = *sample };
		tree->nodes[number].sample.ticks = tree->nodes[number].sample.ns = 0;
		tree->nodes[number].sample.waits = 0;
	}
	return number;
}

/* Replaces the sample by its caller; false: that is not text. */
static bool go_up(const struct stack_tree *tree, struct sample *sample)
{
	const struct chain_context *context;

	if (!sample->callers)
		return false;
	context = &tree->samples->callers.all[sample->callers];
	if (tree->samples->places[context->frame].kind == PLACE_NONE)
		return false;
	sample->place = context->frame;
	sample->callers = context->parent;
	return true;
}

/* Adds the node and its callers, up to the first that exists. */
static int add_leaf(struct stack_tree *tree, const struct sample *sample)
{
	struct sample at = *sample;
	bool is_new;
	uint32_t number = find_node(tree, &at, &is_new), parent;

	if (!number)
		return -ENOMEM;
	tree->nodes[number].sample = *sample;
	for (; is_new && go_up(tree, &at); number = parent) {
		parent = find_node(tree, &at, &is_new);
		if (!parent)
			return -ENOMEM;
		tree->nodes[number].parent = parent;
		tree->nodes[parent].children++;
	}
	return 0;
}

/* Fixes the order of equal ticks, too. */
static bool is_colder(const struct stack_tree *tree, uint32_t a, uint32_t b)
{
	const struct sample *x = &tree->nodes[a].sample, *y = &tree->nodes[b].sample;
	const int order = compare_u64(x->ticks, y->ticks) ?: compare_u64(x->ns, y->ns);

	return order ? order < 0 : a < b;
}

static void push(struct stack_tree *tree, uint32_t number)
{
	size_t hole = tree->nr_heap++;

	for (; hole && is_colder(tree, number, tree->heap[(hole - 1) / 2]); hole = (hole - 1) / 2)
		tree->heap[hole] = tree->heap[(hole - 1) / 2];
	tree->heap[hole] = number;
}

static uint32_t pop(struct stack_tree *tree)
{
	const uint32_t top = tree->heap[0], last = tree->heap[--tree->nr_heap];
	size_t hole = 0, child;

	while ((child = 2 * hole + 1) < tree->nr_heap) {
		if (child + 1 < tree->nr_heap &&
		    is_colder(tree, tree->heap[child + 1], tree->heap[child]))
			child++;
		if (!is_colder(tree, tree->heap[child], last))
			break;
		tree->heap[hole] = tree->heap[child];
		hole = child;
	}
	tree->heap[hole] = last;
	return top;
}

static void push_leaf(struct stack_tree *tree, uint32_t number)
{
	if (tree->nodes[number].parent && !tree->nodes[number].children)
		push(tree, number);
}

static bool has_cost(const struct sample *sample)
{
	return sample->ticks || sample->ns || sample->waits;
}

/* Returns true if there is one stack less. If the caller had no ticks, it is a new stack. */
static bool fold_leaf(struct stack_tree *tree, uint32_t number)
{
	struct stack_node *node = &tree->nodes[number], *parent = &tree->nodes[node->parent];
	const bool had_cost = has_cost(&parent->sample);

	parent->sample.ticks = add_saturating(parent->sample.ticks, node->sample.ticks);
	parent->sample.ns = add_saturating(parent->sample.ns, node->sample.ns);
	parent->sample.waits = add_saturating(parent->sample.waits, node->sample.waits);
	node->sample.ticks = node->sample.ns = node->sample.waits = 0;
	parent->children--;
	push_leaf(tree, node->parent);
	return had_cost;
}

static int fold_tree(struct stack_tree *tree, size_t nr, size_t most)
{
	uint32_t i;

	tree->heap = calloc(tree->nr + 1, sizeof(*tree->heap));
	if (!tree->heap)
		return -ENOMEM;
	for (i = 1; i <= tree->nr; i++)
		push_leaf(tree, i);
	while (nr > most && tree->nr_heap)
		nr -= fold_leaf(tree, pop(tree));
	return 0;
}

int samples_fold_leaves(const struct samples *samples, const struct sample_service *service,
			size_t most, struct sample *result, size_t *nr)
{
	struct stack_tree tree = { .samples = samples };
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < service->nr; i++)
		ret = add_leaf(&tree, &samples->all[service->first + i]);
	if (!ret)
		ret = fold_tree(&tree, service->nr, most);
	for (i = 1, *nr = 0; !ret && i <= tree.nr; i++)
		if (has_cost(&tree.nodes[i].sample))
			result[(*nr)++] = tree.nodes[i].sample;
	chain_tree_free(&tree.stacks);
	chain_tree_free(&tree.numbers);
	free(tree.nodes);
	free(tree.heap);
	return ret;
}
