// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Chains that were cut above main. Hand-written start code, and main itself in some compilers,
 * often have no rule. Such chains contain everything that users look for. Therefore they get their
 * own roots.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "profile/callers.h"
#include "profile/profile.h"

struct above_main {
	struct profile_callers *callers;
	struct profile_index *index;
	uint32_t *roots; /* by node */
	bool *is_first; /* by site: the function is main, or the first of a thread */
	bool *has_first; /* by node: it is such a function, or below one */
	bool *leads_to; /* by node: it is such a function, above one, or below one */
	uint32_t *kept, *moved; /* by node: new index below its root, and below the new root */
	uint32_t *made; /* by root: the new root */
};

static bool is_first_name(const char *name)
{
	return !strcmp(name, "main") || !strcmp(name, "start_thread") ||
	       !strcmp(name, "execute_native_thread_routine") ||
	       text_ends_in(name, "::thread_start");
}

/* Chains that were not walked, or lost their inner frames, are not complete below main. */
static bool is_cut_at_top(enum walk_end end)
{
	return end == END_LATE || end == END_NO_RULE || end == END_UNREADABLE || end == END_DEEP ||
	       end == END_REGISTER;
}

static void find_first_sites(struct above_main *above, const struct profile *profile)
{
	const struct profile_function *function;
	size_t i;

	for (i = 0; i < profile->callers->nr_sites; i++) {
		const struct profile_site *site = &profile->callers->sites[i];

		function = profile_index_find(above->index, site->object, site->offset, 1);
		above->is_first[i] = function && is_first_name(function->name);
	}
}

/* False: no cut chain contains main. */
static bool find_chains(struct above_main *above)
{
	const struct profile_callers *callers = above->callers;
	bool any = false;
	size_t i;

	for (i = 0; i < callers->nr_nodes; i++) {
		const struct profile_node *node = &callers->nodes[i];

		if (!is_cut_at_top(callers->roots[above->roots[i]].end))
			continue;
		above->has_first[i] =
			(node->parent >= 0 && above->has_first[node->parent]) ||
			(node->site != PROFILE_SITE_KERNEL && above->is_first[node->site]);
		above->leads_to[i] = above->has_first[i];
		any |= above->has_first[i];
	}
	for (i = callers->nr_nodes; i-- > 0;)
		if (above->leads_to[i] && callers->nodes[i].parent >= 0)
			above->leads_to[callers->nodes[i].parent] = true;
	return any;
}

/* Makes a root for each root with such chains. Equal ones are combined later. */
static int make_roots(struct above_main *above)
{
	struct profile_callers *callers = above->callers;
	const size_t nr = callers->nr_roots;
	struct profile_root *roots = reallocarray(callers->roots, 2 * nr + 1, sizeof(*roots));
	size_t i;

	if (!roots)
		return -ENOMEM;
	callers->roots = roots;
	for (i = 0; i < callers->nr_nodes; i++) {
		const struct profile_root *old = &roots[above->roots[i]];
		struct profile_root *root = &roots[callers->nr_roots];

		if (!above->leads_to[i] || above->made[above->roots[i]])
			continue;
		*root = (struct profile_root){ .target = old->target,
					       .pid = old->pid,
					       .process = old->process ? strdup(old->process) :
									 NULL,
					       .cgroup = old->cgroup ? strdup(old->cgroup) : NULL,
					       .end = END_ABOVE_MAIN };
		above->made[above->roots[i]] = (uint32_t)callers->nr_roots++;
		if ((old->process && !root->process) || (old->cgroup && !root->cgroup))
			return -ENOMEM;
	}
	return 0;
}

static int32_t new_parent(const struct profile_node *node, const uint32_t *ids, uint32_t root)
{
	return node->parent < 0 ? -1 - (int32_t)root : (int32_t)ids[node->parent];
}

/* Nodes above main may also be in chains without main. They stay, and exist twice. */
static int move_nodes(struct above_main *above)
{
	struct profile_callers *callers = above->callers;
	const size_t nr = callers->nr_nodes;
	struct profile_node *nodes = calloc(2 * nr + 1, sizeof(*nodes)), *node;
	size_t i, to = 0;

	if (!nodes)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		node = &callers->nodes[i];
		if (above->has_first[i])
			continue;
		above->kept[i] = (uint32_t)to;
		nodes[to] = *node;
		nodes[to++].parent = new_parent(node, above->kept, above->roots[i]);
	}
	for (i = 0; i < nr; i++) {
		node = &callers->nodes[i];
		if (!above->leads_to[i])
			continue;
		above->moved[i] = (uint32_t)to;
		nodes[to] = *node;
		nodes[to].ticks = above->has_first[i] ? node->ticks : 0;
		nodes[to++].parent = new_parent(node, above->moved, above->made[above->roots[i]]);
	}
	free(callers->nodes);
	callers->nodes = nodes;
	callers->nr_nodes = to;
	return 0;
}

static void drop_empty_roots(struct profile_callers *callers, const bool *used, uint32_t *ids)
{
	size_t i, to = 0;

	for (i = 0; i < callers->nr_roots; i++) {
		ids[i] = (uint32_t)to;
		if (used[i] || callers->roots[i].ticks) {
			callers->roots[to++] = callers->roots[i];
			continue;
		}
		free(callers->roots[i].process);
		free(callers->roots[i].cgroup);
	}
	callers->nr_roots = to;
}

/* Drops nodes and roots without ticks in or below them. */
static int drop_empty(struct profile_callers *callers)
{
	const size_t nr = callers->nr_nodes;
	cleanup_free bool *used = calloc(nr + callers->nr_roots + 1, sizeof(*used));
	cleanup_free uint32_t *ids = calloc(nr + callers->nr_roots + 1, sizeof(*ids));
	struct profile_node *node;
	size_t i, to = 0;

	if (!used || !ids)
		return -ENOMEM;
	for (i = nr; i-- > 0;) {
		node = &callers->nodes[i];
		used[i] = used[i] || node->ticks;
		if (used[i])
			used[node->parent < 0 ? nr + (size_t)(-1 - node->parent) :
						(size_t)node->parent] = true;
	}
	drop_empty_roots(callers, used + nr, ids + nr);
	for (i = 0; i < nr; i++) {
		node = &callers->nodes[i];
		if (!used[i])
			continue;
		ids[i] = (uint32_t)to;
		callers->nodes[to] = *node;
		callers->nodes[to++].parent =
			node->parent < 0 ? -1 - (int32_t)ids[nr + (size_t)(-1 - node->parent)] :
					   (int32_t)ids[node->parent];
	}
	callers->nr_nodes = to;
	return 0;
}

static int move_chains(struct above_main *above)
{
	return make_roots(above)		  ?:
		       move_nodes(above)	  ?:
		       drop_empty(above->callers) ?:
						    profile_callers_fold(above->callers);
}

int profile_cut_above_main(struct profile *profile)
{
	struct profile_callers *callers = profile->callers;
	const size_t nr = callers ? callers->nr_nodes + 1 : 0;
	struct above_main above = { .callers = callers };
	int ret = 0;

	if (!callers)
		return 0;
	above.index = profile_index_new(profile);
	above.roots = profile_callers_roots(callers);
	above.is_first = calloc(callers->nr_sites + 1, sizeof(*above.is_first));
	above.has_first = calloc(nr, 2 * sizeof(*above.has_first));
	above.kept = calloc(nr, 2 * sizeof(*above.kept));
	above.made = calloc(callers->nr_roots + 1, sizeof(*above.made));
	if (above.index && above.roots && above.is_first && above.has_first && above.kept &&
	    above.made) {
		above.leads_to = above.has_first + nr;
		above.moved = above.kept + nr;
		find_first_sites(&above, profile);
		if (find_chains(&above))
			ret = move_chains(&above);
	} else {
		ret = -ENOMEM;
	}
	profile_index_free(above.index);
	free(above.roots);
	free(above.is_first);
	free(above.has_first);
	free(above.kept);
	free(above.made);
	return ret;
}
