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

struct above_node {
	uint32_t root;
	bool has_first; /* it is such a function, or below one */
	bool leads_to; /* it is such a function, above one, or below one */
	uint32_t kept, moved; /* new index below its root, and below the new root */
};

struct above_main {
	struct profile_callers *callers;
	struct above_node *nodes;
	bool *is_first; /* by site: the function is main, or the first of a thread */
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

static void find_first_sites(struct above_main *above, const struct profile_index *index)
{
	const struct profile_function *function;
	size_t i;

	for (i = 0; i < above->callers->nr_sites; i++) {
		const struct profile_site *site = &above->callers->sites[i];

		function = profile_index_find(index, site->object, site->offset, 1);
		above->is_first[i] = function && is_first_name(function->name);
	}
}

/* False: no cut chain contains main. */
static bool find_chains(struct above_main *above)
{
	const struct profile_callers *callers = above->callers;
	struct above_node *nodes = above->nodes;
	bool any = false;
	size_t i;

	for (i = 0; i < callers->nr_nodes; i++) {
		const struct profile_node *node = &callers->nodes[i];

		nodes[i].root = node->parent < 0 ? (uint32_t)(-1 - node->parent) :
						   nodes[node->parent].root;
		if (!is_cut_at_top(callers->roots[nodes[i].root].end))
			continue;
		nodes[i].leads_to = nodes[i].has_first =
			(node->parent >= 0 && nodes[node->parent].has_first) ||
			(node->site != PROFILE_SITE_KERNEL && above->is_first[node->site]);
		any |= nodes[i].has_first;
	}
	for (i = callers->nr_nodes; i-- > 0;)
		if (nodes[i].leads_to && callers->nodes[i].parent >= 0)
			nodes[callers->nodes[i].parent].leads_to = true;
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
		const uint32_t number = above->nodes[i].root;
		const struct profile_root *old = &roots[number];
		struct profile_root *root = &roots[callers->nr_roots];

		if (!above->nodes[i].leads_to || above->made[number])
			continue;
		*root = *old;
		root->ticks = root->waits = root->class = 0;
		root->process = old->process ? strdup(old->process) : NULL;
		root->cgroup = old->cgroup ? strdup(old->cgroup) : NULL;
		root->end = END_ABOVE_MAIN;
		above->made[number] = (uint32_t)callers->nr_roots++;
		if ((old->process && !root->process) || (old->cgroup && !root->cgroup))
			return -ENOMEM;
	}
	return 0;
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
		if (above->nodes[i].has_first)
			continue;
		above->nodes[i].kept = (uint32_t)to;
		nodes[to] = *node;
		if (node->parent >= 0)
			nodes[to].parent = (int32_t)above->nodes[node->parent].kept;
		to++;
	}
	for (i = 0; i < nr; i++) {
		node = &callers->nodes[i];
		if (!above->nodes[i].leads_to)
			continue;
		above->nodes[i].moved = (uint32_t)to;
		nodes[to] = *node;
		nodes[to].ticks = above->nodes[i].has_first ? node->ticks : 0;
		nodes[to++].parent = node->parent < 0 ?
					     -1 - (int32_t)above->made[above->nodes[i].root] :
					     (int32_t)above->nodes[node->parent].moved;
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
	struct above_main above = { .callers = callers };
	struct profile_index *index;
	int ret = -ENOMEM;

	if (!callers)
		return 0;
	index = profile_index_new(profile);
	above.nodes = calloc(callers->nr_nodes + 1, sizeof(*above.nodes));
	above.is_first = calloc(callers->nr_sites + 1, sizeof(*above.is_first));
	above.made = calloc(callers->nr_roots + 1, sizeof(*above.made));
	if (index && above.nodes && above.is_first && above.made) {
		find_first_sites(&above, index);
		ret = find_chains(&above) ? move_chains(&above) : 0;
	}
	profile_index_free(index);
	free(above.nodes);
	free(above.is_first);
	free(above.made);
	return ret;
}
