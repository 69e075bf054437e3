// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* From the store to the callers of a profile. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "host/engine/store_fill.h"
#include "profile/callers.h"

struct caller_build {
	struct filling *filling;
	struct profile_callers *result;
	uint32_t *nodes; /* by node: its number in the profile */
	uint32_t *roots; /* by root: its number in the profile + 1; 0: none yet */
	struct hash_index sites; /* of the profile */
};

/* The index of a site, which is added if it is new. */
static uint32_t find_site(struct caller_build *tree, const struct profile_site *site)
{
	struct profile_callers *result = tree->result;
	const struct profile_site *sites = result->sites;
	uint32_t *slot =
		HASH_SLOT(&tree->sites, hash_mix((uint64_t)site->object << 48, site->offset), i,
			  sites[i].offset == site->offset && sites[i].object == site->object);

	if (!*slot) {
		result->sites[result->nr_sites] = *site;
		*slot = (uint32_t)++result->nr_sites;
	}
	return *slot - 1;
}

static int name_root(const struct filling *filling, uint32_t number, struct profile_root *result)
{
	const struct seen_names *names = filling->names;
	const uint64_t split = filling->store->roots[number].key.split;

	if (!split || filling->left_out[number])
		return 0;
	return split_names_of(names->splits, names->split, split, &result->pid, &result->process,
			      &result->cgroup);
}

/* The profile's root of a root, which is added if it is new. NULL: out of memory. */
static struct profile_root *find_root(struct caller_build *tree, uint32_t number)
{
	const struct table_root_key *key = &tree->filling->store->roots[number].key;
	struct profile_callers *result = tree->result;
	struct profile_root *root;

	if (tree->roots[number])
		return &result->roots[tree->roots[number] - 1];
	root = &result->roots[result->nr_roots++];
	*root = (struct profile_root){ .target = key->target, .pid = -1, .end = key->end };
	tree->roots[number] = (uint32_t)result->nr_roots;
	return name_root(tree->filling, number, root) ? NULL : root;
}

/* Ticks without a frame: outside of all text, or of places that were added up. */
static int add_root_ticks(struct caller_build *tree, uint32_t number, uint64_t ticks)
{
	struct profile_root *root;

	if (!ticks || tree->filling->store->roots[number].key.end == END_FLAT)
		return 0;
	root = find_root(tree, number);
	if (!root)
		return -ENOMEM;
	root->ticks += ticks;
	return 0;
}

static int add_frame(struct caller_build *tree, size_t i, struct profile_root *root)
{
	const struct store_node *node = &tree->filling->store->nodes[i];
	struct profile_callers *result = tree->result;
	struct profile_node made = { .site = PROFILE_SITE_KERNEL, .ticks = node->count };
	struct profile_site site;

	if (!(node->place & SITE_IN_KERNEL)) {
		if (filling_site(tree->filling, node, &site))
			return -ENOMEM;
		made.site = find_site(tree, &site);
	}
	if (node->parent & NODE_IS_ROOT)
		made.parent = -1 - (int32_t)(root - result->roots);
	else
		made.parent = (int32_t)tree->nodes[node->parent - 1];
	tree->nodes[i] = (uint32_t)result->nr_nodes;
	result->nodes[result->nr_nodes++] = made;
	return 0;
}

/*
 * For cgroups that are left out, only ticks outside of all text are shown, at a root without a
 * name.
 */
static int add_node(struct caller_build *tree, size_t i)
{
	const struct filling *filling = tree->filling;
	const struct store_node *node = &filling->store->nodes[i];
	const uint32_t number = filling->roots[i];
	struct profile_root *root;

	if (filling->left_out[number])
		return node->parent & NODE_IS_ROOT && node->place & SITE_IN_KERNEL ?
			       add_root_ticks(tree, number, node->count) :
			       0;
	if (place_shift(node->place) || filling->store->roots[number].key.end == END_FLAT)
		return add_root_ticks(tree, number, node->count);
	root = find_root(tree, number);
	return root ? add_frame(tree, i, root) : -ENOMEM;
}

static int add_all(struct caller_build *tree)
{
	const struct store *store = tree->filling->store;
	uint32_t root;
	size_t i;

	for (root = 0; root < store->nr_roots; root++)
		if (add_root_ticks(tree, root, store->roots[root].ticks))
			return -ENOMEM;
	for (i = 0; i < store->nr_nodes; i++)
		if (add_node(tree, i))
			return -ENOMEM;
	return 0;
}

int filling_callers(struct filling *filling, struct profile_callers *result)
{
	const struct store *store = filling->store;
	cleanup_free uint32_t *nodes = malloc((store->nr_nodes + 1) * sizeof(*nodes));
	cleanup_free uint32_t *roots = calloc(store->nr_roots + 1, sizeof(*roots));
	struct caller_build tree = { .filling = filling,
				     .result = result,
				     .nodes = nodes,
				     .roots = roots };
	int ret = hash_index_reserve(&tree.sites, store->nr_nodes);

	result->roots = calloc(store->nr_roots + 1, sizeof(*result->roots));
	result->sites = malloc((store->nr_nodes + 1) * sizeof(*result->sites));
	result->nodes = malloc((store->nr_nodes + 1) * sizeof(*result->nodes));
	if (ret < 0 || !nodes || !roots || !result->roots || !result->sites || !result->nodes)
		ret = -ENOMEM;
	else
		ret = add_all(&tree);
	free(tree.sites.slots);
	/*
	 * Splits may look equal, for instance if a pid was used twice, and so may nodes of two
	 * texts of one object.
	 */
	return ret ? ret : profile_callers_fold(result);
}
