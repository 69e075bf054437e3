// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "profile/waits_view.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "profile/waits.h"

#define OBJECT_PATH "[waits]"

char *wait_class_full_name(const struct profile_wait_class *class)
{
	return format_text("%s%s", class->name, class->io ? " I/O" : "");
}

static bool has_match(const char *const *patterns, size_t nr,
		      const struct profile_wait_class *class)
{
	cleanup_free char *full = wait_class_full_name(class);
	size_t i;

	for (i = 0; i < nr; i++)
		if (!fnmatch(patterns[i], class->name, 0) ||
		    (full && !fnmatch(patterns[i], full, 0)))
			return true;
	return false;
}

bool waits_choice_has(const struct waits_choice *choice, const struct profile_wait_class *class)
{
	if (!choice)
		return true;
	if (has_match(choice->without, choice->nr_without, class))
		return false;
	return !choice->nr_only || has_match(choice->only, choice->nr_only, class);
}

struct view_maker {
	struct waits_view *view;
	const struct profile *of;
	const struct profile_waits *waits;
	const struct profile_callers *tree; /* theirs */
	bool *chosen; /* by class */
	uint32_t *sites; /* by site of waits: its number in the view, */
	uint32_t *roots; /* likewise by root, */
	uint32_t *nodes; /* and by node */
	uint32_t first_target; /* of those of waits */
	uint32_t first_class_site;
};

/* --- objects, functions and targets ----------------------------------------------------------- */

static void *copied(const void *from, size_t nr, size_t more, size_t size)
{
	char *copy = calloc(nr + more + 1, size);

	if (copy && nr)
		memcpy(copy, from, nr * size);
	return copy;
}

/* Names a class with and without brackets. */
static int name_class(struct waits_view *view, const struct profile_wait_class *class)
{
	char *bare = wait_class_full_name(class);

	view->classes[view->nr_names] = bare;
	view->names[view->nr_names] = bare ? format_text("[%s]", bare) : NULL;
	return view->names[view->nr_names++] ? 0 : -ENOMEM;
}

static int add_classes(struct view_maker *maker)
{
	struct waits_view *view = maker->view;
	struct profile *profile = &view->profile;
	const size_t nr = maker->waits->nr_classes;
	size_t i;

	profile->objects =
		copied(maker->of->objects, maker->of->nr_objects, 1, sizeof(*profile->objects));
	profile->functions = copied(maker->of->functions, maker->of->nr_functions, nr,
				    sizeof(*profile->functions));
	view->names = calloc(nr + 1, sizeof(*view->names));
	view->classes = calloc(nr + 1, sizeof(*view->classes));
	if (!profile->objects || !profile->functions || !view->names || !view->classes)
		return -ENOMEM;
	view->object = (uint32_t)profile->nr_objects;
	profile->objects[profile->nr_objects++] =
		(struct profile_object){ .kind = PROFILE_KERNEL, .path = (char *)OBJECT_PATH };
	for (i = 0; i < nr; i++) {
		if (name_class(view, &maker->waits->classes[i]))
			return -ENOMEM;
		profile->functions[profile->nr_functions++] =
			(struct profile_function){ .object = view->object,
						   .name = view->names[i],
						   .offset = i,
						   .size = 1 };
	}
	return 0;
}

static int add_targets(struct view_maker *maker, bool with_cpu)
{
	struct profile *profile = &maker->view->profile;
	const size_t nr = maker->of->nr_targets;
	struct profile_target *target;
	size_t i;

	maker->first_target = with_cpu ? (uint32_t)nr : 0;
	profile->targets =
		copied(maker->of->targets, nr, with_cpu ? nr : 0, sizeof(*profile->targets));
	if (!profile->targets)
		return -ENOMEM;
	profile->nr_targets = maker->first_target + nr;
	for (i = 0; i < nr; i++) {
		target = &profile->targets[maker->first_target + i];
		*target = maker->of->targets[i];
		target->waits = true;
		target->waits_of = (uint32_t)i;
		target->period_ns = 1;
		target->cpu_known = target->kernel_known = false;
		target->cpu_ns = target->kernel_ticks = target->excess = 0;
		target->ticks = (struct profile_account){ 0 };
	}
	return 0;
}

/* --- histograms ------------------------------------------------------------------------------- */

static int compare_roots(const void *left, const void *right)
{
	const struct profile_root *const *x = left, *const *y = right;

	return profile_root_compare(*x, *y);
}

/* Adds to the bin of a class, which ascend. */
static int add_bin(struct profile_bins *bins, uint32_t class, uint64_t ns)
{
	struct profile_bin *last = bins->nr ? &bins->list[bins->nr - 1] : NULL;

	if (!last || last->index != class)
		return profile_bins_add(bins, class, ns);
	last->count = add_saturating(last->count, ns);
	return 0;
}

static void add_ticks(const struct view_maker *maker, uint32_t target, uint64_t ns)
{
	struct profile *profile = &maker->view->profile;
	struct profile_account *account = &profile->targets[target].ticks;

	account->total = account->binned = add_saturating(account->total, ns);
	if (!maker->first_target)
		profile->ticks.total = profile->ticks.binned =
			add_saturating(profile->ticks.total, ns);
}

/* Adds waits of a target and split, whose roots come by class. JIT text alone is no split. */
static int add_owner(struct view_maker *maker, const struct profile_root *const *roots, size_t nr,
		     const uint64_t *by_root)
{
	const struct profile_root *of = roots[0];
	struct profile *profile = &maker->view->profile;
	struct profile_histogram *histogram = &profile->histograms[profile->nr_histograms];
	struct profile_bins bins = { 0 };
	size_t i;
	int ret = 0;

	*histogram = (struct profile_histogram){ .target = maker->first_target + of->target,
						 .object = maker->view->object,
						 .pid = of->pid,
						 .process = of->process,
						 .cgroup = of->cgroup,
						 .size = maker->waits->nr_classes,
						 .width = 8,
						 .scale = 131072,
						 .bytes_per_bin = 1 };
	profile->nr_histograms++;
	for (i = 0; !ret && i < nr; i++) {
		const uint64_t ns = by_root[roots[i] - maker->tree->roots];

		if (!ns || !maker->chosen[roots[i]->class])
			continue;
		ret = add_bin(&bins, roots[i]->class, ns);
		add_ticks(maker, histogram->target, ns);
	}
	histogram->bins = bins.list;
	histogram->nr_bins = bins.nr;
	return ret;
}

int waits_walks(const struct profile *profile, uint64_t target, struct callers_account *walks)
{
	const struct profile_callers *tree = &profile->waits->tree;
	cleanup_free uint64_t *by_root = profile_callers_sums(tree);
	const uint32_t runnable = profile_waits_runnable(profile->waits);
	size_t i;

	*walks = (struct callers_account){ 0 };
	for (i = 0; by_root && i < tree->nr_roots; i++) {
		const struct profile_root *root = &tree->roots[i];

		if (root->end < WALK_END_COUNT && root->class != runnable &&
		    profile_target_chosen(profile, target, root->target))
			walks->ticks[root->end] =
				add_saturating(walks->ticks[root->end], by_root[i]);
	}
	return by_root ? 0 : -ENOMEM;
}

static int add_histograms(struct view_maker *maker, const uint64_t *by_root, bool with_cpu)
{
	struct profile *profile = &maker->view->profile;
	const struct profile_callers *waits = maker->tree;
	cleanup_free const struct profile_root **sorted =
		calloc(waits->nr_roots + 1, sizeof(*sorted));
	const size_t nr = with_cpu ? maker->of->nr_histograms : 0;
	size_t i, end;
	int ret = 0;

	profile->histograms =
		copied(maker->of->histograms, nr, waits->nr_roots, sizeof(*profile->histograms));
	if (!sorted || !profile->histograms)
		return -ENOMEM;
	profile->nr_histograms = maker->view->histograms = nr;
	for (i = 0; i < waits->nr_roots; i++)
		sorted[i] = &waits->roots[i];
	SORT(sorted, waits->nr_roots, compare_roots);
	for (i = 0; !ret && i < waits->nr_roots; i = end) {
		for (end = i + 1; end < waits->nr_roots; end++)
			if (profile_root_compare_owners(sorted[i], sorted[end]))
				break;
		ret = add_owner(maker, sorted + i, end - i, by_root);
	}
	return ret;
}

/* --- callers ---------------------------------------------------------------------------------- */

/* Merges the places of calls of ticks and waits, both ascending. Classes come last. */
static void merge_sites(struct view_maker *maker, const struct profile_callers *ticks,
			uint32_t *of_ticks)
{
	const struct profile_callers *waits = maker->tree;
	struct profile_callers *callers = &maker->view->callers;
	size_t i = 0, j = 0, nr = 0;
	int order;

	while (i < ticks->nr_sites || j < waits->nr_sites) {
		order = i == ticks->nr_sites ?
				1 :
			j == waits->nr_sites ?
				-1 :
				profile_site_compare(&ticks->sites[i], &waits->sites[j]);
		callers->sites[nr] = order <= 0 ? ticks->sites[i] : waits->sites[j];
		if (order <= 0)
			of_ticks[i++] = (uint32_t)nr;
		if (order >= 0)
			maker->sites[j++] = (uint32_t)nr;
		nr++;
	}
	maker->first_class_site = (uint32_t)nr;
	for (i = 0; i < maker->waits->nr_classes; i++)
		callers->sites[nr++] = (struct profile_site){ maker->view->object, i };
	callers->nr_sites = nr;
}

static void add_roots(struct view_maker *maker, const struct profile_callers *ticks)
{
	struct profile_callers *callers = &maker->view->callers;
	struct profile_root *root;
	size_t i;

	for (i = 0; i < ticks->nr_roots; i++)
		callers->roots[callers->nr_roots++] = ticks->roots[i];
	for (i = 0; i < maker->tree->nr_roots; i++) {
		root = &callers->roots[callers->nr_roots++];
		*root = maker->tree->roots[i];
		root->target += maker->first_target;
		root->end = root->end == WALK_END_COUNT ? END_COMPLETE : root->end;
		root->ticks = root->waits = 0;
	}
}

/* Adds a node with the number that its site has in the view. */
static struct profile_node *add_node(struct profile_callers *callers,
				     const struct profile_node *node, const uint32_t *sites)
{
	struct profile_node *added = &callers->nodes[callers->nr_nodes++];

	*added = *node;
	if (node->site != PROFILE_SITE_KERNEL)
		added->site = sites[node->site];
	return added;
}

/* Adds the class as a callee of whatever waited in it. */
static void add_leaf(struct view_maker *maker, int32_t parent, uint32_t class, uint64_t ns,
		     uint64_t waits)
{
	struct profile_callers *callers = &maker->view->callers;

	if (maker->chosen[class] && (ns || waits))
		callers->nodes[callers->nr_nodes++] =
			(struct profile_node){ .parent = parent,
					       .site = maker->first_class_site + class,
					       .ticks = ns,
					       .waits = waits };
}

static void add_waits(struct view_maker *maker, const uint32_t *root_of, int32_t first_root)
{
	const struct profile_callers *tree = maker->tree;
	struct profile_callers *callers = &maker->view->callers;
	struct profile_node *node;
	size_t i;

	for (i = 0; i < tree->nr_nodes; i++) {
		const int32_t parent = tree->nodes[i].parent;

		if (!maker->chosen[tree->roots[root_of[i]].class])
			continue;
		maker->nodes[i] = (uint32_t)callers->nr_nodes;
		node = add_node(callers, &tree->nodes[i], maker->sites);
		node->parent = parent < 0 ? parent - first_root : (int32_t)maker->nodes[parent];
		node->ticks = node->waits = 0;
	}
	for (i = 0; i < tree->nr_nodes; i++)
		add_leaf(maker, (int32_t)maker->nodes[i], tree->roots[root_of[i]].class,
			 tree->nodes[i].ticks, tree->nodes[i].waits);
	for (i = 0; i < tree->nr_roots; i++)
		add_leaf(maker, -1 - first_root - (int32_t)i, tree->roots[i].class,
			 tree->roots[i].ticks, tree->roots[i].waits);
}

static int add_callers(struct view_maker *maker, bool with_cpu)
{
	static const struct profile_callers none;
	const struct profile_callers *ticks = with_cpu && maker->of->callers ? maker->of->callers :
									       &none;
	const struct profile_callers *tree = maker->tree;
	struct profile_callers *callers = &maker->view->callers;
	cleanup_free uint32_t *sites = calloc(ticks->nr_sites + 1, sizeof(*sites));
	cleanup_free uint32_t *root_of = profile_callers_roots(tree);
	size_t i;

	callers->sites = calloc(ticks->nr_sites + tree->nr_sites + maker->waits->nr_classes + 1,
				sizeof(*callers->sites));
	callers->roots = calloc(ticks->nr_roots + tree->nr_roots + 1, sizeof(*callers->roots));
	callers->nodes = calloc(ticks->nr_nodes + 2 * tree->nr_nodes + tree->nr_roots + 1,
				sizeof(*callers->nodes));
	if (!sites || !root_of || !callers->sites || !callers->roots || !callers->nodes)
		return -ENOMEM;
	merge_sites(maker, ticks, sites);
	add_roots(maker, ticks);
	for (i = 0; i < ticks->nr_nodes; i++)
		add_node(callers, &ticks->nodes[i], sites);
	add_waits(maker, root_of, (int32_t)ticks->nr_roots);
	maker->view->profile.callers = callers;
	return 0;
}

/* --- the view --------------------------------------------------------------------------------- */

static int make_view(struct view_maker *maker, const struct waits_choice *choice, bool with_cpu)
{
	const struct profile_waits *waits = maker->waits;
	cleanup_free uint64_t *by_root = profile_callers_sums(maker->tree);
	size_t i;
	int ret;

	if (!by_root)
		return -ENOMEM;
	for (i = 0; i < waits->nr_classes; i++)
		maker->chosen[i] = waits_choice_has(choice, &waits->classes[i]);
	ret = add_classes(maker);
	if (!ret)
		ret = add_targets(maker, with_cpu);
	if (!ret)
		ret = add_histograms(maker, by_root, with_cpu);
	return ret ? ret : add_callers(maker, with_cpu);
}

static bool has_chains(const struct profile_callers *tree)
{
	size_t i;

	for (i = 0; i < tree->nr_roots; i++)
		if (tree->roots[i].end != WALK_END_COUNT)
			return true;
	return false;
}

int waits_view_open(struct waits_view *view, const struct profile *profile,
		    const struct waits_choice *choice, bool with_cpu)
{
	const struct profile_waits *waits = profile->waits;
	cleanup_free bool *chosen = calloc(waits->nr_classes + 1, sizeof(*chosen));
	cleanup_free uint32_t *sites = calloc(waits->tree.nr_sites + 1, sizeof(*sites));
	cleanup_free uint32_t *nodes = calloc(waits->tree.nr_nodes + 1, sizeof(*nodes));
	struct view_maker maker = { .view = view,
				    .of = profile,
				    .waits = waits,
				    .tree = &waits->tree,
				    .chosen = chosen,
				    .sites = sites,
				    .nodes = nodes };

	*view = (struct waits_view){ .profile = *profile,
				     .of = profile,
				     .has_chains = has_chains(&waits->tree) };
	view->profile.histograms = NULL;
	view->profile.nr_histograms = 0;
	view->profile.targets = NULL;
	view->profile.objects = NULL;
	view->profile.functions = NULL;
	view->profile.callers = NULL;
	if (!with_cpu) {
		view->profile.splits = NULL;
		view->profile.nr_splits = 0;
		view->profile.ticks = (struct profile_account){ 0 };
		view->profile.sampling.period_ns = 1;
	}
	return chosen && sites && nodes ? make_view(&maker, choice, with_cpu) : -ENOMEM;
}

void waits_view_close(struct waits_view *view)
{
	struct profile *profile = &view->profile;
	size_t i;

	for (i = view->histograms; profile->histograms && i < profile->nr_histograms; i++)
		free(profile->histograms[i].bins);
	free_all(view->names, view->nr_names);
	free_all(view->classes, view->nr_names);
	free(view->callers.sites);
	free(view->callers.roots);
	free(view->callers.nodes);
	free(profile->objects);
	free(profile->functions);
	free(profile->targets);
	free(profile->histograms);
}
