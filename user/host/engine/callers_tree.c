// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/engine/callers_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* No chain is longer; what hangs below more is a damaged tree. */
enum { CHAIN_MAX = WALK_FRAMES + WALK_KERNEL_FRAMES + 1 };

int tree_begin(struct caller_tree *tree)
{
	tree->counts = calloc(tree->nr_nodes, sizeof(*tree->counts));
	return tree->counts ? 0 : -ENOMEM;
}

void tree_free(struct caller_tree *tree)
{
	free(tree->counts);
	free(tree->roots);
}

void tree_read(struct caller_tree *tree, bool take)
{
	uint32_t i, count;

	for (i = 0; i < tree->nr_nodes; i++) {
		uint32_t *at = &tree->nodes[i].count;

		count = __atomic_load_n(at, __ATOMIC_RELAXED);
		if (count && take)
			count = __atomic_exchange_n(at, 0, __ATOMIC_RELAXED);
		tree->counts[i] = take ? tree->counts[i] + count : count;
	}
}

/* What an element hangs from: another one's index + 1, or a root; 0: it is not complete yet. */
static uint32_t parent_of(const struct caller_tree *tree, uint32_t element)
{
	uint32_t parent = __atomic_load_n(&tree->nodes[element].parent, __ATOMIC_RELAXED);

	if (parent & NODE_IS_ROOT)
		return (parent & ~NODE_IS_ROOT) < tree->nr_roots ? parent : 0;
	return parent <= tree->nr_nodes ? parent : 0;
}

uint32_t tree_root_of(const struct caller_tree *tree, uint32_t element)
{
	uint32_t parent, depth;

	for (depth = 0; depth < CHAIN_MAX; depth++) {
		parent = parent_of(tree, element);
		if (parent & NODE_IS_ROOT)
			return parent & ~NODE_IS_ROOT;
		if (!parent)
			break;
		element = parent - 1;
	}
	return (uint32_t)tree->nr_roots;
}

bool tree_is_after_gap(const struct caller_tree *tree, uint32_t element)
{
	return __atomic_load_n(&tree->nodes[element].site, __ATOMIC_RELAXED) & SITE_AFTER_GAP;
}

/* The target of an element that has ticks; nr: none. */
static uint32_t target_of(const struct caller_tree *tree, uint32_t element, uint32_t nr)
{
	uint32_t root = tree->counts[element] ? tree_root_of(tree, element) : tree->nr_roots;

	return root < tree->nr_roots && tree->roots[root].key.target < nr ?
		       tree->roots[root].key.target :
		       nr;
}

void tree_sum(const struct caller_tree *tree, uint64_t *sums, uint32_t nr)
{
	uint32_t i, target;

	for (i = 0; i < tree->nr_roots; i++)
		if (tree->roots[i].key.target < nr)
			sums[tree->roots[i].key.target] += tree->roots[i].ticks;
	for (i = 0; i < tree->nr_nodes; i++) {
		target = target_of(tree, i, nr);
		if (target < nr)
			sums[target] += tree->counts[i];
	}
}

static uint32_t take_surplus(uint64_t *ticks, uint64_t *surplus)
{
	uint64_t part = *surplus < *ticks ? *surplus : *ticks;

	part = part < UINT32_MAX ? part : UINT32_MAX;
	*ticks -= part;
	*surplus -= part;
	return (uint32_t)part;
}

void tree_give_back(struct caller_tree *tree, uint64_t *surplus, uint32_t nr, bool back)
{
	uint32_t nr_seen, i, target, part;

	/* What fell since is where programs add to, and what they have left shall keep none. */
	for (nr_seen = 0; nr_seen < tree->nr_nodes; nr_seen++) {
		i = (tree->first + nr_seen) % tree->nr_nodes;
		target = target_of(tree, i, nr);
		if (target == nr || !surplus[target])
			continue;
		part = take_surplus(&tree->counts[i], &surplus[target]);
		if (back)
			__atomic_fetch_add(&tree->nodes[i].count, part, __ATOMIC_RELAXED);
	}
	for (i = 0; i < tree->nr_roots; i++)
		if (tree->roots[i].key.target < nr)
			take_surplus(&tree->roots[i].ticks, &surplus[tree->roots[i].key.target]);
}

/* --- from the elements to a profile's nodes ------------------------------------------------------ */

/* An element that is in the profile, with its site there. */
struct tree_element {
	uint32_t number;
	bool in_kernel; /* PROFILE_SITE_KERNEL, and no site */
	bool after_gap;
	struct profile_site site;
};

enum { UNSEEN = -1, DROPPED = -2 }; /* by element, before it has an index */

struct builder {
	const struct caller_tree *tree;
	struct profile_callers *result;
	const uint32_t *root_of;
	const uint32_t *gap_root_of;
	bool gaps; /* elements are added for leaves after a gap, the others are there */
	struct tree_element *elements; /* parents first */
	size_t nr;
	size_t nr_plain; /* elements from here on are only above a gap, or after one */
	size_t room;
	int32_t *index; /* by number: its index in elements, UNSEEN or DROPPED */
	uint32_t *nodes; /* by index in elements: its node */
	uint32_t *copies; /* the same of its copy above a gap, + 1 */
	uint32_t *slots; /* of a hash by parent and site: node + 1 */
	size_t nr_slots;
};

static int compare_sites(const void *left, const void *right)
{
	const struct profile_site *a = left, *b = right;

	return a->object == b->object ? compare_u64(a->offset, b->offset) :
					compare_u64(a->object, b->object);
}

static int add_element(struct builder *builder, uint32_t number, tree_site site_of, void *context)
{
	struct tree_element element = { .number = number,
					.after_gap = tree_is_after_gap(builder->tree, number) };
	uint64_t site = builder->tree->nodes[number].site & ~SITE_AFTER_GAP;

	element.in_kernel = site == SITE_IN_KERNEL;
	if (!element.in_kernel && !site_of(context, site, &element.site)) {
		builder->index[number] = DROPPED;
		return 0;
	}
	if (GROW(builder->elements, builder->room, builder->nr + 1))
		return -ENOMEM;
	builder->index[number] = (int32_t)builder->nr;
	builder->elements[builder->nr++] = element;
	return 0;
}

/* Whether what an element hangs from is not in the profile, as in a circle that nothing made. */
static bool is_above_dropped(const struct builder *builder, uint32_t parent)
{
	const uint32_t *root_of = builder->gaps ? builder->gap_root_of : builder->root_of;

	if (parent & NODE_IS_ROOT)
		return root_of[parent & ~NODE_IS_ROOT] == UINT32_MAX;
	return !parent || builder->index[parent - 1] < 0;
}

/* Adds an element after all above it that are not there yet. */
static int add_chain(struct builder *builder, uint32_t number, tree_site site_of, void *context)
{
	uint32_t chain[CHAIN_MAX], nr = 0, parent;
	int ret = 0;

	while (builder->index[number] == UNSEEN && nr < CHAIN_MAX) {
		chain[nr++] = number;
		parent = parent_of(builder->tree, number);
		if (!parent || parent & NODE_IS_ROOT)
			break;
		number = parent - 1;
	}
	while (nr-- && !ret) {
		if (is_above_dropped(builder, parent_of(builder->tree, chain[nr])))
			builder->index[chain[nr]] = DROPPED;
		else
			ret = add_element(builder, chain[nr], site_of, context);
	}
	return ret;
}

static int make_sites(struct builder *builder)
{
	struct profile_callers *result = builder->result;
	size_t i, to = 0;

	result->sites = calloc(builder->nr + 1, sizeof(*result->sites));
	if (!result->sites)
		return -ENOMEM;
	for (i = 0; i < builder->nr; i++)
		if (!builder->elements[i].in_kernel)
			result->sites[to++] = builder->elements[i].site;
	SORT(result->sites, to, compare_sites);
	for (i = 0; i < to; i++)
		if (!i || compare_sites(&result->sites[i], &result->sites[i - 1]))
			result->sites[result->nr_sites++] = result->sites[i];
	return 0;
}

static uint32_t site_index(const struct profile_callers *result, const struct tree_element *element)
{
	const struct profile_site *found;

	if (element->in_kernel)
		return PROFILE_SITE_KERNEL;
	found = bsearch(&element->site, result->sites, result->nr_sites, sizeof(*result->sites),
			compare_sites);
	return (uint32_t)(found - result->sites);
}

/* The node of a site below a parent, which is made if it is new. */
static uint32_t find_node(struct builder *builder, int32_t parent, uint32_t site)
{
	struct profile_callers *result = builder->result;
	uint64_t hash = ((uint64_t)(uint32_t)parent << 32 | site) * 0x9e3779b97f4a7c15ULL;
	size_t slot = (hash >> 32) % builder->nr_slots;

	for (; builder->slots[slot]; slot = (slot + 1) % builder->nr_slots) {
		const struct profile_node *node = &result->nodes[builder->slots[slot] - 1];

		if (node->parent == parent && node->site == site)
			return builder->slots[slot] - 1;
	}
	result->nodes[result->nr_nodes++] = (struct profile_node){ .parent = parent, .site = site };
	builder->slots[slot] = (uint32_t)result->nr_nodes;
	return (uint32_t)result->nr_nodes - 1;
}

/* The node that an element's frame is below. */
static int32_t above_of(const struct builder *builder, const struct tree_element *element)
{
	uint32_t parent = parent_of(builder->tree, element->number);

	if (parent & NODE_IS_ROOT)
		return -1 - (int32_t)builder->root_of[parent & ~NODE_IS_ROOT];
	return (int32_t)builder->nodes[builder->index[parent - 1]];
}

/* The same of one after a gap: the chain above it is copied as far as it was not yet. */
static int32_t above_gap(struct builder *builder, const struct tree_element *element)
{
	uint32_t chain[CHAIN_MAX], nr = 0, parent = parent_of(builder->tree, element->number);
	int32_t above;

	while (!(parent & NODE_IS_ROOT) && nr < CHAIN_MAX &&
	       !builder->copies[builder->index[parent - 1]]) {
		chain[nr++] = (uint32_t)builder->index[parent - 1];
		parent = parent_of(builder->tree, parent - 1);
	}
	if (parent & NODE_IS_ROOT)
		above = -1 - (int32_t)builder->gap_root_of[parent & ~NODE_IS_ROOT];
	else
		above = (int32_t)builder->copies[builder->index[parent - 1]] - 1;
	while (nr--) {
		element = &builder->elements[chain[nr]];
		above = (int32_t)find_node(builder, above, site_index(builder->result, element));
		builder->copies[chain[nr]] = (uint32_t)above + 1;
	}
	return above;
}

static int make_nodes(struct builder *builder)
{
	struct profile_callers *result = builder->result;
	size_t i, most = 2 * builder->nr + 1; /* each and its copy */

	builder->nr_slots = 2 * most;
	builder->slots = calloc(builder->nr_slots, sizeof(*builder->slots));
	builder->nodes = calloc(most, sizeof(*builder->nodes));
	builder->copies = calloc(most, sizeof(*builder->copies));
	result->nodes = calloc(most, sizeof(*result->nodes));
	if (!builder->slots || !builder->nodes || !builder->copies || !result->nodes)
		return -ENOMEM;
	for (i = 0; i < builder->nr; i++) {
		const struct tree_element *element = &builder->elements[i];
		int32_t above;

		if (i >= builder->nr_plain && !element->after_gap)
			continue;
		above = element->after_gap ? above_gap(builder, element) :
					     above_of(builder, element);
		builder->nodes[i] = find_node(builder, above, site_index(result, element));
		result->nodes[builder->nodes[i]].ticks += builder->tree->counts[element->number];
	}
	return 0;
}

static int add_chains(struct builder *builder, bool after_gap, tree_site site_of, void *context)
{
	const struct caller_tree *tree = builder->tree;
	uint32_t i;
	int ret = 0;

	builder->gaps = after_gap;
	for (i = 0; i < tree->nr_nodes && !ret; i++)
		if (tree->counts[i] && tree_is_after_gap(tree, i) == after_gap)
			ret = add_chain(builder, i, site_of, context);
	if (!after_gap)
		builder->nr_plain = builder->nr;
	return ret;
}

int tree_build(const struct caller_tree *tree, tree_site site_of, void *context,
	       const uint32_t *root_of, const uint32_t *gap_root_of, struct profile_callers *result)
{
	struct builder builder = { .tree = tree,
				   .result = result,
				   .root_of = root_of,
				   .gap_root_of = gap_root_of };
	int ret = 0;

	builder.index = malloc(tree->nr_nodes * sizeof(*builder.index));
	if (!builder.index)
		return -ENOMEM;
	memset(builder.index, 0xff, tree->nr_nodes * sizeof(*builder.index)); /* UNSEEN */
	ret = add_chains(&builder, false, site_of, context);
	ret = ret ?: add_chains(&builder, true, site_of, context);
	ret = ret ?: make_sites(&builder);
	ret = ret ?: make_nodes(&builder);
	free(builder.index);
	free(builder.elements);
	free(builder.nodes);
	free(builder.copies);
	free(builder.slots);
	return ret;
}
