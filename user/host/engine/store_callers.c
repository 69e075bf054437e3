// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* From the store to the callers of a profile. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "host/engine/store_fill.h"
#include "profile/callers.h"

/*
 * A chain with a gap hangs from a root of END_FULL, so that it does not look complete. Frames above the gap may be in
 * complete chains too. Therefore a node of the store can have two nodes in the profile.
 */
enum kind { PLAIN, GAP, KINDS };

/* Marks of a node of the store. */
enum {
	AFTER_GAP = 1, /* its own chain has a gap */
	USED = 2, /* by kind: it or one below it has ticks; shifted by the kind */
};

struct caller_build {
	struct filling *filling;
	struct profile_callers *result;
	uint8_t *marks; /* by node */
	uint32_t *sites; /* by node: its site; UINT32_MAX: none */
	uint32_t *made[KINDS]; /* by node: the profile's */
	uint32_t *roots[KINDS]; /* by root: the profile's; UINT32_MAX: none */
	uint64_t *ticks[KINDS]; /* by root: without a frame; GAP: of places that were added up */
	uint8_t *root_marks; /* USED, as of nodes */
	uint32_t *slots; /* of a hash: number + 1; a power of two */
	size_t nr_slots;
	size_t nr_used; /* nodes of both kinds */
};

#define NO_ROOT UINT32_MAX

static bool is_root(uint32_t parent)
{
	return parent & NODE_IS_ROOT;
}

/* Whether the chains below a root are in the profile. */
static bool has_chains(const struct caller_build *tree, uint32_t root)
{
	const struct filling *filling = tree->filling;

	return !filling->left_out[root] && filling->store->roots[root].key.end != END_FLAT;
}

/* --- which nodes ----------------------------------------------------------------------------- */

/* A node below a gap is after the gap too. */
static void mark_gaps(struct caller_build *tree)
{
	const struct store *store = tree->filling->store;
	size_t i;

	for (i = 0; i < store->nr_nodes; i++) {
		const struct store_node *node = &store->nodes[i];

		if (node->place & SITE_AFTER_GAP ||
		    (!is_root(node->parent) && tree->marks[node->parent - 1] & AFTER_GAP))
			tree->marks[i] |= AFTER_GAP;
	}
}

/* Ticks outside of all text are not filtered. They get a root without a name. */
static void add_left_out(struct caller_build *tree, const struct store_node *node, uint32_t root)
{
	if (tree->filling->left_out[root] && is_root(node->parent) && node->place & SITE_IN_KERNEL)
		tree->ticks[PLAIN][root] += node->count;
}

static void mark_used(struct caller_build *tree)
{
	const struct store *store = tree->filling->store;
	size_t i;

	for (i = store->nr_nodes; i-- > 0;) {
		const struct store_node *node = &store->nodes[i];
		const uint32_t root = tree->filling->roots[i];
		uint8_t used;

		if (!has_chains(tree, root)) {
			add_left_out(tree, node, root);
			continue;
		}
		if (place_shift(node->place)) {
			tree->ticks[GAP][root] += node->count;
			continue;
		}
		if (node->count)
			tree->marks[i] |= USED << (tree->marks[i] & AFTER_GAP ? GAP : PLAIN);
		used = tree->marks[i] & (USED << PLAIN | USED << GAP);
		tree->nr_used += (unsigned int)__builtin_popcount(used);
		if (is_root(node->parent))
			tree->root_marks[root] |= used;
		else
			tree->marks[node->parent - 1] |= used;
	}
}

/* --- sites --------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t hash = (a ^ b << 32 ^ b >> 32) * 0x9e3779b97f4a7c15ULL;

	return hash ^ hash >> 32;
}

/* The index of a site, which is added if it is new. */
static uint32_t find_site(struct caller_build *tree, const struct profile_site *site)
{
	struct profile_callers *result = tree->result;
	size_t at = mix(site->offset, site->object) & (tree->nr_slots - 1);

	for (; tree->slots[at]; at = (at + 1) & (tree->nr_slots - 1)) {
		const struct profile_site *other = &result->sites[tree->slots[at] - 1];

		if (other->offset == site->offset && other->object == site->object)
			return tree->slots[at] - 1;
	}
	result->sites[result->nr_sites++] = *site;
	tree->slots[at] = (uint32_t)result->nr_sites;
	return (uint32_t)result->nr_sites - 1;
}

static bool is_used(const struct caller_build *tree, size_t i)
{
	return tree->marks[i] & (USED << PLAIN | USED << GAP);
}

static int make_sites(struct caller_build *tree)
{
	const struct store *store = tree->filling->store;
	struct profile_site site;
	size_t i;

	for (tree->nr_slots = 2; tree->nr_slots < 2 * tree->nr_used;)
		tree->nr_slots *= 2;
	tree->slots = calloc(tree->nr_slots, sizeof(*tree->slots));
	tree->result->sites = malloc((tree->nr_used + 1) * sizeof(*tree->result->sites));
	if (!tree->slots || !tree->result->sites)
		return -ENOMEM;
	for (i = 0; i < store->nr_nodes; i++) {
		tree->sites[i] = PROFILE_SITE_KERNEL;
		if (!is_used(tree, i) || store->nodes[i].place & SITE_IN_KERNEL)
			continue;
		if (filling_site(tree->filling, &store->nodes[i], &site))
			return -ENOMEM;
		tree->sites[i] = find_site(tree, &site);
	}
	return 0;
}

/* --- roots --------------------------------------------------------------------------------------- */

static int name_root(const struct filling *filling, uint32_t number, struct profile_root *result)
{
	const struct seen_names *names = filling->names;
	const uint64_t split = filling->store->roots[number].key.split;
	const struct split_name *told = split ? split_names_find(names->splits, split) : NULL;

	if (!split || filling->left_out[number])
		return 0;
	if (names->split == SPLIT_CGROUP) {
		result->cgroup = split_cgroup_name(names->splits, split);
		return result->cgroup ? 0 : -ENOMEM;
	}
	result->pid = split_pid(split);
	result->process = told ? strdup(told->name) : NULL;
	return told && !result->process ? -ENOMEM : 0;
}

/* Makes the roots that have ticks, or nodes with ticks. */
static int make_roots(struct caller_build *tree, enum kind kind)
{
	const struct store *store = tree->filling->store;
	struct profile_root *root;
	uint32_t i;

	for (i = 0; i < store->nr_roots; i++) {
		const struct caller_root_key *key = &store->roots[i].key;

		tree->roots[kind][i] = NO_ROOT;
		if (key->end == END_FLAT ||
		    (!tree->ticks[kind][i] && !(tree->root_marks[i] & USED << kind)))
			continue;
		tree->roots[kind][i] = (uint32_t)tree->result->nr_roots;
		root = &tree->result->roots[tree->result->nr_roots++];
		*root = (struct profile_root){ .target = key->target,
					       .pid = -1,
					       .end = kind == GAP ? END_FULL : key->end,
					       .ticks = tree->ticks[kind][i] };
		if (name_root(tree->filling, i, root))
			return -ENOMEM;
	}
	return 0;
}

/* --- nodes --------------------------------------------------------------------------------------- */

static void make_node(struct caller_build *tree, size_t i, enum kind kind)
{
	const struct filling *filling = tree->filling;
	const struct store_node *node = &filling->store->nodes[i];
	const bool has_ticks = kind == (tree->marks[i] & AFTER_GAP ? GAP : PLAIN);
	struct profile_node made = { .site = tree->sites[i], .ticks = has_ticks ? node->count : 0 };

	if (is_root(node->parent))
		made.parent = -1 - (int32_t)tree->roots[kind][filling->roots[i]];
	else
		made.parent = (int32_t)tree->made[kind][node->parent - 1];
	tree->made[kind][i] = (uint32_t)tree->result->nr_nodes;
	tree->result->nodes[tree->result->nr_nodes++] = made;
}

static int make_nodes(struct caller_build *tree)
{
	enum kind kind;
	size_t i;

	tree->result->nodes = malloc((tree->nr_used + 1) * sizeof(*tree->result->nodes));
	if (!tree->result->nodes)
		return -ENOMEM;
	for (i = 0; i < tree->filling->store->nr_nodes; i++)
		for (kind = PLAIN; kind < KINDS; kind++)
			if (tree->marks[i] & USED << kind)
				make_node(tree, i, kind);
	return 0;
}

/* --- the whole ----------------------------------------------------------------------------------- */

static int begin_tree(struct caller_build *tree)
{
	const struct store *store = tree->filling->store;
	uint32_t i, kind;

	tree->marks = calloc(store->nr_nodes + 1, sizeof(*tree->marks));
	tree->sites = malloc((store->nr_nodes + 1) * sizeof(*tree->sites));
	tree->root_marks = calloc(store->nr_roots + 1, sizeof(*tree->root_marks));
	tree->result->roots = calloc(KINDS * store->nr_roots + 1, sizeof(*tree->result->roots));
	if (!tree->marks || !tree->sites || !tree->root_marks || !tree->result->roots)
		return -ENOMEM;
	for (kind = 0; kind < KINDS; kind++) {
		tree->made[kind] = malloc((store->nr_nodes + 1) * sizeof(uint32_t));
		tree->roots[kind] = malloc((store->nr_roots + 1) * sizeof(uint32_t));
		tree->ticks[kind] = calloc(store->nr_roots + 1, sizeof(uint64_t));
		if (!tree->made[kind] || !tree->roots[kind] || !tree->ticks[kind])
			return -ENOMEM;
	}
	for (i = 0; i < store->nr_roots; i++)
		tree->ticks[PLAIN][i] = store->roots[i].ticks;
	return 0;
}

static void free_tree(struct caller_build *tree)
{
	enum kind kind;

	for (kind = PLAIN; kind < KINDS; kind++) {
		free(tree->made[kind]);
		free(tree->roots[kind]);
		free(tree->ticks[kind]);
	}
	free(tree->marks);
	free(tree->sites);
	free(tree->root_marks);
	free(tree->slots);
}

int filling_callers(struct filling *filling, struct profile_callers *result)
{
	struct caller_build tree = { .filling = filling, .result = result };
	int ret = begin_tree(&tree);

	if (!ret) {
		mark_gaps(&tree);
		mark_used(&tree);
	}
	ret = ret ?: make_sites(&tree);
	ret = ret ?: make_roots(&tree, PLAIN);
	ret = ret ?: make_roots(&tree, GAP);
	ret = ret ?: make_nodes(&tree);
	free_tree(&tree);
	/* Splits may look equal, as of a pid that was used twice, and so may nodes of two texts of one object. */
	return ret ?: profile_callers_fold(result);
}
