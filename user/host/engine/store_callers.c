// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* From the store to the trees of a profile: callers, and places of waits. */
#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "host/engine/store_impl.h"
#include "profile/callers.h"

struct tree_build {
	struct filling *filling;
	struct profile_callers *result;
	struct hash_index sites; /* of the profile */
	size_t root_room;
	int32_t *nodes; /* by node: its number in the profile */
	int32_t *roots; /* by root: itself as a parent in the profile; 0: none yet */
};

/* The index of a site, which is added if it is new. */
static uint32_t find_site(struct tree_build *build, const struct profile_site *site)
{
	struct profile_callers *result = build->result;
	const struct profile_site *sites = result->sites;
	uint32_t *slot =
		HASH_SLOT(&build->sites, hash_mix((uint64_t)site->object << 48, site->offset), i,
			  sites[i].offset == site->offset && sites[i].object == site->object);

	if (!*slot) {
		result->sites[result->nr_sites] = *site;
		*slot = (uint32_t)++result->nr_sites;
	}
	return *slot - 1;
}

/* Adds the root of a root. -ENOMEM. */
static int add_root(struct tree_build *build, uint32_t number)
{
	const struct filling *filling = build->filling;
	const struct store_root *from = &filling->store->roots[number];
	const bool is_nameless = filling->left_out[number] && !from->class;
	struct profile_callers *result = build->result;
	struct profile_root *to;

	if (GROW(result->roots, build->root_room, result->nr_roots + 1))
		return -ENOMEM;
	to = &result->roots[result->nr_roots++];
	*to = (struct profile_root){ .target = from->key.target,
				     .class = from->class,
				     .end = from->key.end };
	build->roots[number] = -(int32_t)result->nr_roots;
	return filling_name_split(filling, is_nameless ? 0 : from->key.split, &to->pid,
				  &to->process, &to->cgroup);
}

/* Finds the profile's root of a root, and adds it if it is new. -ENOMEM. */
static int find_root(struct tree_build *build, uint32_t number, int32_t *result)
{
	const int ret = build->roots[number] ? 0 : add_root(build, number);

	*result = build->roots[number];
	return ret;
}

/* Ticks and waits without a frame: outside of all text, or of places that were added up. */
static int add_to_root(struct tree_build *build, uint32_t number, uint64_t ticks, uint64_t waits)
{
	struct profile_root *to;
	int32_t root;

	if (!ticks && !waits)
		return 0;
	if (find_root(build, number, &root))
		return -ENOMEM;
	to = &build->result->roots[-1 - root];
	to->ticks += ticks;
	to->waits += waits;
	return 0;
}

/* How a node is shown. */
enum shown { SHOWN_NOT, SHOWN_AT_ROOT, SHOWN_AT_PLACE };

/*
 * Ticks without callers are in no tree. For cgroups that are left out, only waits and ticks outside
 * of all text are shown, at a root, which has no name for ticks.
 */
static enum shown how_shown(const struct filling *filling, size_t i)
{
	const struct store_node *node = &filling->store->nodes[i];
	const struct store_root *root = &filling->store->roots[filling->roots[i]];
	const bool left_out = filling->left_out[filling->roots[i]];

	if (root->class)
		return has_place(node) && !left_out ? SHOWN_AT_PLACE : SHOWN_AT_ROOT;
	if (root->key.end == END_FLAT || (left_out && has_place(node)))
		return SHOWN_NOT;
	return left_out || place_shift(node->place) ? SHOWN_AT_ROOT : SHOWN_AT_PLACE;
}

static int add_node(struct tree_build *build, size_t i)
{
	struct filling *filling = build->filling;
	const struct store *store = filling->store;
	const struct store_node *node = &store->nodes[i];
	struct profile_node made = { .site = PROFILE_SITE_KERNEL,
				     .ticks = filling->counts[i],
				     .waits = store->waits ? store->waits[i] : 0 };
	const enum shown shown = how_shown(filling, i);
	struct profile_site site;

	if (shown == SHOWN_NOT)
		return 0;
	if (shown == SHOWN_AT_ROOT)
		return add_to_root(build, filling->roots[i], made.ticks, made.waits);
	if (find_root(build, filling->roots[i], &made.parent))
		return -ENOMEM;
	if (!(node->parent & NODE_IS_ROOT))
		made.parent = build->nodes[node_number(node->parent)];
	if (!(node->place & SITE_IN_KERNEL)) {
		if (filling_site(filling, node, &site))
			return -ENOMEM;
		made.site = find_site(build, &site);
	}
	build->nodes[i] = (int32_t)build->result->nr_nodes;
	build->result->nodes[build->result->nr_nodes++] = made;
	return 0;
}

static int add_all(struct tree_build *build, bool of_waits)
{
	const struct filling *filling = build->filling;
	const struct store_root *roots = filling->store->roots;
	uint32_t root;
	size_t i;

	for (root = 0; !of_waits && root < filling->store->nr_roots; root++)
		if (roots[root].key.end != END_FLAT &&
		    add_to_root(build, root, roots[root].ticks, 0))
			return -ENOMEM;
	for (i = 0; i < filling->store->nr_nodes; i++)
		if ((roots[filling->roots[i]].class != 0) == of_waits && add_node(build, i))
			return -ENOMEM;
	return 0;
}

int filling_tree(struct filling *filling, bool of_waits, struct profile_callers *result)
{
	const size_t nr = filling->store->nr_nodes;
	cleanup_free int32_t *nodes = malloc((nr + 1) * sizeof(*nodes));
	cleanup_free int32_t *roots = calloc(filling->store->nr_roots + 1, sizeof(*roots));
	struct tree_build build = { .filling = filling,
				    .result = result,
				    .nodes = nodes,
				    .roots = roots };
	int ret = -ENOMEM;

	result->sites = malloc((nr + 1) * sizeof(*result->sites));
	result->nodes = malloc((nr + 1) * sizeof(*result->nodes));
	if (nodes && roots && result->sites && result->nodes &&
	    hash_index_reserve(&build.sites, nr) >= 0)
		ret = add_all(&build, of_waits);
	free(build.sites.slots);
	return ret;
}
