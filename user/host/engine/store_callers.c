// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* From the store to the callers of a profile. */
#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "host/engine/store_impl.h"
#include "profile/callers.h"

struct caller_build {
	struct filling_tree tree;
	int32_t *nodes; /* by node: its number in the profile */
	int32_t *roots; /* by root: itself as a parent in the profile; 0: none yet */
};

/* Finds the profile's root of a root, and adds it if it is new. -ENOMEM. */
static int find_root(struct caller_build *build, uint32_t number, int32_t *result)
{
	const struct filling *filling = build->tree.filling;
	const struct table_root_key *key = &filling->store->roots[number].key;
	const uint64_t split = filling->left_out[number] ? 0 : key->split;
	int ret = 0;

	if (!build->roots[number])
		ret = filling_add_root(&build->tree, key, split, key->end, &build->roots[number]);
	*result = build->roots[number];
	return ret;
}

/* Ticks without a frame: outside of all text, or of places that were added up. */
static int add_root_ticks(struct caller_build *build, uint32_t number, uint64_t ticks)
{
	int32_t root;

	if (!ticks || build->tree.filling->store->roots[number].key.end == END_FLAT)
		return 0;
	if (find_root(build, number, &root))
		return -ENOMEM;
	filling_add_ticks(&build->tree, root, ticks, 0);
	return 0;
}

/*
 * For cgroups that are left out, only ticks outside of all text are shown, at a root without a
 * name.
 */
static int add_node(struct caller_build *build, size_t i)
{
	const struct filling *filling = build->tree.filling;
	const struct store_node *node = &filling->store->nodes[i];
	const uint32_t number = filling->roots[i];
	int32_t parent;

	if (filling->left_out[number])
		return node->parent & NODE_IS_ROOT && node->place & SITE_IN_KERNEL ?
			       add_root_ticks(build, number, node->count) :
			       0;
	if (place_shift(node->place) || filling->store->roots[number].key.end == END_FLAT)
		return add_root_ticks(build, number, node->count);
	if (find_root(build, number, &parent))
		return -ENOMEM;
	if (!(node->parent & NODE_IS_ROOT))
		parent = build->nodes[node_number(node->parent)];
	if (filling_add_node(&build->tree, node, parent, &build->nodes[i]))
		return -ENOMEM;
	filling_add_ticks(&build->tree, build->nodes[i], node->count, 0);
	return 0;
}

static int add_all(struct caller_build *build)
{
	const struct store *store = build->tree.filling->store;
	uint32_t root;
	size_t i;

	for (root = 0; root < store->nr_roots; root++)
		if (add_root_ticks(build, root, store->roots[root].ticks))
			return -ENOMEM;
	for (i = 0; i < store->nr_nodes; i++)
		if (add_node(build, i))
			return -ENOMEM;
	return 0;
}

int filling_callers(struct filling *filling, struct profile_callers *result)
{
	const struct store *store = filling->store;
	cleanup_free int32_t *nodes = malloc((store->nr_nodes + 1) * sizeof(*nodes));
	cleanup_free int32_t *roots = calloc(store->nr_roots + 1, sizeof(*roots));
	struct caller_build build = { { .filling = filling, .result = result }, nodes, roots };
	int ret = filling_tree_begin(&build.tree, store->nr_nodes);

	if (!ret)
		ret = nodes && roots ? add_all(&build) : -ENOMEM;
	filling_tree_end(&build.tree);
	/*
	 * Splits may look equal, for instance if a pid was used twice, and so may nodes of two
	 * texts of one object.
	 */
	return ret ? ret : profile_callers_fold(result);
}
