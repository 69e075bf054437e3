// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Sorts each list of a merged profile, and adds up equal elements. */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "profile/profile_members.h"
#include "profile/profile_merge.h"
#include "profile/profile_notes.h"
#include "profile/profile_splits.h"

struct folding {
	void *list; /* address of the pointer to the list, of any type */
	size_t *nr;
	size_t size;
	const struct profile_member *members; /* of an element, which is freed after adding it */
	int (*compare)(const void *left, const void *right);
	/*
	 * Elements with different keys are ordered by these, without calling compare. May be NULL.
	 */
	void (*fill_key)(const void *element, uint64_t key[2]);
	/*
	 * Adds an equal element, which is freed then; NULL: the sum is the first. -ENOMEM: all
	 * elements are still valid.
	 */
	int (*add)(void *sum, void *part);
};

#define FOLD(owner, member, members_of, order, prefix, sum)                                        \
	(struct folding)                                                                           \
	{                                                                                          \
		.list = &(owner)->member, .nr = &(owner)->nr_##member,                             \
		.size = sizeof(*(owner)->member), .members = members_of, .compare = order,         \
		.fill_key = prefix, .add = sum                                                     \
	}

static char *list_of(const struct folding *folding)
{
	char *list;

	memcpy(&list, folding->list, sizeof(list));
	return list;
}

struct element {
	uint64_t key[2];
	const char *at;
};

static bool same_key(const struct element *a, const struct element *b)
{
	return a->key[0] == b->key[0] && a->key[1] == b->key[1];
}

static int compare_keys(const void *left, const void *right)
{
	const struct element *a = left, *b = right;
	int order = compare_u64(a->key[0], b->key[0]) ?: compare_u64(a->key[1], b->key[1]);

	return order ?: (a->at > b->at) - (a->at < b->at);
}

static int compare_elements(const void *left, const void *right, void *context)
{
	const struct element *a = left, *b = right;
	const struct folding *const *folding = context;
	int order = (*folding)->compare(a->at, b->at);

	return order ? order : (a->at > b->at) - (a->at < b->at);
}

/*
 * Elements with equal keys are mostly equal. Therefore one comparison each usually shows that they
 * are sorted.
 */
static void sort_equal_keys(const struct folding *folding, struct element *elements, size_t nr)
{
	size_t i, end;

	for (i = 0; i < nr; i = end) {
		bool ascending = true;

		for (end = i + 1; end < nr && same_key(&elements[end], &elements[i]); end++)
			if (ascending &&
			    folding->compare(elements[end - 1].at, elements[end].at) > 0)
				ascending = false;
		if (!ascending)
			qsort_r(elements + i, end - i, sizeof(*elements), compare_elements,
				&folding);
	}
}

/* Sorts the list; old_index[i] is the former index of element i. */
static int sort(const struct folding *folding, uint32_t *old_index)
{
	size_t nr = *folding->nr, size = folding->size, i;
	cleanup_free struct element *elements = calloc(nr + 1, sizeof(*elements));
	char *sorted = malloc((nr + 1) * size), *list = list_of(folding);

	if (!elements || !sorted) {
		free(sorted);
		return -ENOMEM;
	}
	for (i = 0; i < nr; i++)
		elements[i].at = list + i * size;
	if (folding->fill_key) {
		for (i = 0; i < nr; i++)
			folding->fill_key(elements[i].at, elements[i].key);
		SORT(elements, nr, compare_keys);
	}
	sort_equal_keys(folding, elements, nr);
	for (i = 0; i < nr; i++) {
		old_index[i] = (uint32_t)((size_t)(elements[i].at - list) / size);
		memcpy(sorted + i * size, elements[i].at, size);
	}
	free(list);
	memcpy(folding->list, &sorted, sizeof(sorted));
	return 0;
}

/* Adds up by halves, because adding one by one would copy a growing sum each time. */
static int add_up(const struct folding *folding, char *first, size_t nr)
{
	char *second = first + nr / 2 * folding->size;
	int ret = 0;

	if (nr < 2)
		return 0;
	ret = add_up(folding, first, nr / 2) ?: add_up(folding, second, nr - nr / 2);
	if (!ret && folding->add)
		ret = folding->add(first, second);
	if (ret)
		return ret;
	if (folding->members)
		profile_members_free(folding->members, second);
	memset(second, 0, folding->size);
	return 0;
}

/* Combines equal elements. Sets is_first[i] if element i differs from the previous one. */
static int combine(const struct folding *folding, bool *is_first)
{
	size_t nr = *folding->nr, size = folding->size, i, end;
	char *list = list_of(folding);
	int ret = 0;

	for (i = 0; i < nr; i++)
		is_first[i] = !i || folding->compare(list + (i - 1) * size, list + i * size);
	for (i = 0; i < nr && !ret; i = end) {
		end = i + 1;
		while (end < nr && !is_first[end])
			end++;
		ret = add_up(folding, list + i * size, end - i);
	}
	return ret;
}

/* ids, unless NULL, receives the new index of each old one. */
static void compact(const struct folding *folding, const bool *is_first, const uint32_t *old_index,
		    uint32_t *ids)
{
	size_t nr = *folding->nr, size = folding->size, to = 0, i;
	char *list = list_of(folding);

	for (i = 0; i < nr; i++) {
		if (is_first[i])
			memmove(list + to++ * size, list + i * size, size);
		if (ids)
			ids[old_index[i]] = (uint32_t)to - 1;
	}
	*folding->nr = to;
}

/*
 * Sorts the list and combines equal elements. ids, unless NULL, receives the new index of each
 * element by its old one. -ENOMEM: all elements are still there.
 */
static int folding_fold(struct folding folding, uint32_t *ids)
{
	cleanup_free uint32_t *old_index = calloc(*folding.nr + 1, sizeof(*old_index));
	cleanup_free bool *is_first = calloc(*folding.nr + 1, sizeof(*is_first));
	int ret = old_index && is_first ? 0 : -ENOMEM;

	if (!ret)
		ret = sort(&folding, old_index);
	if (!ret)
		ret = combine(&folding, is_first);
	if (!ret)
		compact(&folding, is_first, old_index, ids);
	return ret;
}

/* --- targets ---------------------------------------------------------------------------------- */

static int compare_folded_targets(const void *left, const void *right)
{
	const struct profile_target *a = left, *b = right;
	int order = profile_target_is_call(a) - profile_target_is_call(b);

	order = order ?: strcmp(a->kind, b->kind) ?: strcmp(a->name, b->name);
	order = order ?: compare_text(a->cgroup, b->cgroup) ?: compare_text(a->host, b->host);
	return order ?: compare_u64(a->period_ns, b->period_ns);
}

/* If a part lacks a figure, the sum lacks it, too. */
static void add_figures(struct profile_target *sum, const struct profile_target *part)
{
	sum->cpu_known = sum->cpu_known && part->cpu_known;
	sum->cpu_ns = sum->cpu_known ? add_saturating(sum->cpu_ns, part->cpu_ns) : 0;
	sum->excess = add_saturating(sum->excess, part->excess);
	sum->kernel_known = sum->kernel_known && part->kernel_known;
	sum->kernel_ticks =
		sum->kernel_known ? add_saturating(sum->kernel_ticks, part->kernel_ticks) : 0;
}

static int add_target(void *sum, void *part)
{
	struct profile_target *target = sum;
	const struct profile_target *other = part;

	add_figures(target, other);
	return profile_account_add(&target->ticks, &other->ticks);
}

/* --- splits ----------------------------------------------------------------------------------- */

static int add_split(void *sum, void *part)
{
	struct profile_split *split = sum;
	const struct profile_split *other = part;

	split->cpu_ns = add_saturating(split->cpu_ns, other->cpu_ns);
	split->ticks = add_saturating(split->ticks, other->ticks);
	return 0;
}

#define FOLDING_OF_SPLITS(profile)                                                                 \
	FOLD(profile, splits, profile_split_members, profile_split_compare, NULL, add_split)

int profile_splits_fold(struct profile *profile)
{
	return folding_fold(FOLDING_OF_SPLITS(profile), NULL);
}

/* --- objects ---------------------------------------------------------------------------------- */

/* An object with its host, if its addresses are only valid there. */
struct object_on_host {
	struct profile_object object;
	const char *host;
};

static int compare_segments(const struct profile_object *a, const struct profile_object *b)
{
	size_t i;
	int order = compare_u64(a->nr_text, b->nr_text);

	for (i = 0; !order && i < a->nr_text; i++) {
		order = compare_u64(a->text[i].offset, b->text[i].offset);
		order = order ?: compare_u64(a->text[i].address, b->text[i].address);
		order = order ?: compare_u64(a->text[i].size, b->text[i].size);
	}
	return order;
}

/*
 * Files with equal build ids are equal, at any path. The kernel's offsets are addresses, which
 * change at each boot. Therefore its text must be equal, too.
 */
int profile_compare_objects(const struct profile_object *a, const struct profile_object *b)
{
	int order = compare_u64(a->kind, b->kind) ?: compare_text(a->build_id, b->build_id);

	if (order || (a->build_id && a->kind == PROFILE_FILE))
		return order;
	return compare_text(a->path, b->path) ?: compare_segments(a, b);
}

static int compare_folded_objects(const void *left, const void *right)
{
	const struct object_on_host *a = left, *b = right;

	return profile_compare_objects(&a->object, &b->object) ?: compare_text(a->host, b->host);
}

/* If a file has several paths, keep the alphabetically first, with its text. */
static int add_object(void *sum, void *part)
{
	struct object_on_host *object = sum, *other = part, kept = *object;
	int order = compare_text(other->object.path, object->object.path);

	order = order ?: compare_segments(&other->object, &object->object);
	if (order < 0) {
		*object = *other;
		*other = kept;
	}
	return 0;
}

static void note_host(struct object_on_host *at, const char *host)
{
	if (at->object.kind != PROFILE_JIT && at->object.kind != PROFILE_MEMORY)
		return;
	if (!at->host || strcmp(host, at->host) < 0)
		at->host = host;
}

/*
 * Text that only calls others, and that of waits, is in no histogram. Without this its host would
 * be missing.
 */
static int note_hosts_of_tree(const struct profile *profile, const struct profile_callers *tree,
			      struct object_on_host *on_hosts)
{
	cleanup_free uint32_t *roots = profile_callers_roots(tree);
	size_t i;

	if (!roots)
		return -ENOMEM;
	for (i = 0; i < tree->nr_nodes; i++) {
		uint32_t site = tree->nodes[i].site, target = tree->roots[roots[i]].target;

		if (site != PROFILE_SITE_KERNEL)
			note_host(&on_hosts[tree->sites[site].object],
				  profile->targets[target].host);
	}
	return 0;
}

static int note_hosts(const struct profile *profile, struct object_on_host *on_hosts)
{
	size_t i;

	for (i = 0; i < profile->nr_objects; i++)
		on_hosts[i].object = profile->objects[i];
	for (i = 0; i < profile->nr_histograms; i++)
		note_host(&on_hosts[profile->histograms[i].object],
			  profile->targets[profile->histograms[i].target].host);
	if (profile->waits && note_hosts_of_tree(profile, &profile->waits->tree, on_hosts))
		return -ENOMEM;
	return profile->callers ? note_hosts_of_tree(profile, profile->callers, on_hosts) : 0;
}

static int fold_objects(struct profile *profile, uint32_t *ids)
{
	struct object_on_host *on_hosts = calloc(profile->nr_objects + 1, sizeof(*on_hosts));
	const struct folding folding = { .list = &on_hosts,
					 .nr = &profile->nr_objects,
					 .size = sizeof(*on_hosts),
					 .members = profile_object_members,
					 .compare = compare_folded_objects,
					 .add = add_object };
	size_t i;
	int ret = on_hosts ? note_hosts(profile, on_hosts) : -ENOMEM;

	if (!ret) {
		ret = folding_fold(folding, ids);
		for (i = 0; i < profile->nr_objects; i++)
			profile->objects[i] = on_hosts[i].object;
	}
	free(on_hosts);
	return ret;
}

/* --- histograms ------------------------------------------------------------------------------- */

static int compare_shapes(const struct profile_histogram *a, const struct profile_histogram *b)
{
	const uint64_t pairs[][2] = {
		{ a->offset, b->offset }, { a->size, b->size },
		{ a->width, b->width },	  { a->scale, b->scale },
		{ a->buffer, b->buffer }, { a->bytes_per_bin, b->bytes_per_bin },
		{ a->region, b->region }, { a->overflow, b->overflow },
	};
	size_t i;

	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (pairs[i][0] != pairs[i][1])
			return compare_u64(pairs[i][0], pairs[i][1]);
	return 0;
}

static int compare_folded_histograms(const void *left, const void *right)
{
	const struct profile_histogram *a = left, *b = right;
	int order = profile_compare_texts(a, b) ?: compare_shapes(a, b);

	order = order ?: compare_text(a->stopped, b->stopped);
	return order ?: compare_text(a->dialect, b->dialect);
}

static void key_histogram(const void *element, uint64_t key[2])
{
	const struct profile_histogram *histogram = element;

	key[0] = histogram->target;
	key[1] = histogram->object;
}

static size_t add_bins_up(const struct profile_histogram *a, const struct profile_histogram *b,
			  struct profile_bin *to)
{
	const struct profile_bin *x = a->bins, *x_end = x + a->nr_bins;
	const struct profile_bin *y = b->bins, *y_end = y + b->nr_bins;
	size_t nr = 0;

	/* Use no branches: mispredictions took half of the time of a merge here. */
	while (x < x_end && y < y_end) {
		const uint64_t left = x->index, right = y->index;
		const bool uses_left = left <= right, uses_right = right <= left;

		to[nr].index = uses_left ? left : right;
		to[nr++].count =
			(x->count & -(uint64_t)uses_left) + (y->count & -(uint64_t)uses_right);
		x += uses_left;
		y += uses_right;
	}
	while (x < x_end)
		to[nr++] = *x++;
	while (y < y_end)
		to[nr++] = *y++;
	return nr;
}

/* Counts cannot overflow if the accounts do not, as profile_merger_finish() ensures. */
static int add_histogram(void *sum, void *part)
{
	struct profile_histogram *a = sum;
	const struct profile_histogram *b = part;
	struct profile_bin *bins = malloc((a->nr_bins + b->nr_bins + 1) * sizeof(*bins)), *exact;

	if (!bins)
		return -ENOMEM;
	a->nr_bins = add_bins_up(a, b, bins);
	exact = realloc(bins, (a->nr_bins + 1) * sizeof(*bins));
	free(a->bins);
	a->bins = exact ? exact : bins;
	return 0;
}

#define FOLDING_OF_HISTOGRAMS(profile)                                                             \
	FOLD(profile, histograms, profile_histogram_members, compare_folded_histograms,            \
	     key_histogram, add_histogram)

/* --- functions, hosts ------------------------------------------------------------------------- */

static int compare_folded_functions(const void *left, const void *right)
{
	const struct profile_function *a = left, *b = right;
	int order = compare_u64(a->object, b->object) ?: compare_u64(a->offset, b->offset);

	return order ?: compare_u64(a->size, b->size) ?: strcmp(a->name, b->name);
}

static void key_function(const void *element, uint64_t key[2])
{
	const struct profile_function *function = element;

	key[0] = function->object;
	key[1] = function->offset;
}

static int add_function(void *sum, void *part)
{
	struct profile_function *function = sum;
	const struct profile_function *other = part;

	function->ticks = add_saturating(function->ticks, other->ticks);
	return 0;
}

/* The functions that are all code of an object without names: one of each part. */
struct whole {
	const char *name; /* NULL: the object has none */
	struct profile_function *first;
};

static void extend(struct profile_function *function, const struct profile_function *other)
{
	const uint64_t end =
		max_size(function->offset + function->size, other->offset + other->size);

	function->offset = min_size(function->offset, other->offset);
	function->size = end - function->offset;
}

/*
 * Such functions begin and end at other ticks in each part. Gives all of an object the same extent,
 * so that they are equal. Otherwise bins behind a short one would have no function.
 */
static int align_wholes(struct profile *profile)
{
	cleanup_free struct whole *wholes = calloc(profile->nr_objects + 1, sizeof(*wholes));
	struct profile_function *function, *end = profile->functions + profile->nr_functions;
	struct whole *whole;
	size_t i;

	if (!wholes)
		return -ENOMEM;
	for (i = 0; i < profile->nr_objects; i++)
		wholes[i].name = profile_whole_name(&profile->objects[i]);
	for (function = profile->functions; function < end; function++) {
		whole = &wholes[function->object];
		if (!whole->name || strcmp(function->name, whole->name) != 0)
			continue;
		if (!whole->first)
			whole->first = function;
		extend(whole->first, function);
	}
	for (function = profile->functions; function < end; function++) {
		whole = &wholes[function->object];
		if (whole->first && !strcmp(function->name, whole->name))
			extend(function, whole->first);
	}
	return 0;
}

#define FOLDING_OF_FUNCTIONS(profile)                                                              \
	FOLD(profile, functions, profile_function_members, compare_folded_functions, key_function, \
	     add_function)

static int compare_hosts(const void *left, const void *right)
{
	const struct profile_host *a = left, *b = right;
	int order = compare_text(a->name, b->name) ?: compare_text(a->kernel, b->kernel);

	return order ?: compare_text(a->arch, b->arch) ?: compare_u64(a->cpus, b->cpus);
}

static int compare_labels(const void *left, const void *right)
{
	const struct profile_label *a = left, *b = right;
	int order = compare_text(a->host, b->host) ?: compare_text(a->cgroup, b->cgroup);

	return order ?: strcmp(a->key, b->key);
}

/* Keeps the alphabetically first value, so that the order of a merge does not matter. */
static int add_label(void *sum, void *part)
{
	struct profile_label *label = sum, *other = part, kept = *label;

	if (strcmp(other->value, label->value) < 0) {
		*label = *other;
		*other = kept;
	}
	return 0;
}

/* --- callers ---------------------------------------------------------------------------------- */

static void key_site(const void *element, uint64_t key[2])
{
	const struct profile_site *site = element;

	key[0] = site->object;
	key[1] = site->offset;
}

static int add_root(void *sum, void *part)
{
	struct profile_root *root = sum;
	const struct profile_root *other = part;

	root->ticks = add_saturating(root->ticks, other->ticks);
	root->waits = add_saturating(root->waits, other->waits);
	return 0;
}

/*
 * Nodes are equal only if their parents are. Therefore fold the tree level by level from its roots.
 * In the sum, nodes are ordered by level, then parent and site. All of these are small numbers.
 * Therefore sort by counting: comparisons took most of a merge's time.
 */
struct tree {
	struct profile_callers *callers;
	uint32_t *sites; /* by site: its new index */
	uint32_t *roots; /* by root: its new index */
	uint32_t *ids; /* by node: its new index */
	uint32_t *keys; /* by node: what to sort by */
	uint32_t *order; /* the nodes' indices in order */
	uint32_t *sorted; /* memory for a sort */
	uint32_t *counts; /* memory for a sort: how many nodes have a key */
	struct profile_node *sum;
	size_t nr;
};

/* Sorts nr nodes of the order by keys below nr_keys, and keeps the order of equal ones. */
static void sort_nodes(struct tree *tree, uint32_t *order, size_t nr, size_t nr_keys)
{
	uint32_t *counts = tree->counts;
	size_t i;

	memset(counts, 0, (nr_keys + 1) * sizeof(*counts));
	for (i = 0; i < nr; i++)
		counts[tree->keys[order[i]] + 1]++;
	for (i = 0; i < nr_keys; i++)
		counts[i + 1] += counts[i];
	for (i = 0; i < nr; i++)
		tree->sorted[counts[tree->keys[order[i]]]++] = order[i];
	memcpy(order, tree->sorted, nr * sizeof(*order));
}

static void sort_by_site(struct tree *tree)
{
	const struct profile_callers *callers = tree->callers;
	size_t i;

	for (i = 0; i < callers->nr_nodes; i++) {
		uint32_t site = callers->nodes[i].site;

		tree->order[i] = (uint32_t)i;
		tree->keys[i] = site == PROFILE_SITE_KERNEL ? (uint32_t)callers->nr_sites :
							      tree->sites[site];
	}
	sort_nodes(tree, tree->order, callers->nr_nodes, callers->nr_sites + 1);
}

/* Also stores the level of each node in keys[]. */
static void sort_by_level(struct tree *tree)
{
	const struct profile_callers *callers = tree->callers;
	uint32_t deepest = 0;
	size_t i;

	for (i = 0; i < callers->nr_nodes; i++) {
		int32_t parent = callers->nodes[i].parent;

		tree->keys[i] = parent < 0 ? 0 : tree->keys[parent] + 1;
		if (tree->keys[i] > deepest)
			deepest = tree->keys[i];
	}
	sort_nodes(tree, tree->order, callers->nr_nodes, (size_t)deepest + 1);
}

/* Converts the number of a root to a parent, and back. */
static int32_t root_as_parent(int32_t root)
{
	return -1 - root;
}

/* Returns a node with the new indices of its parent and site. */
static struct profile_node renumbered(const struct tree *tree, uint32_t i)
{
	struct profile_node node = tree->callers->nodes[i];

	if (node.parent < 0)
		node.parent = root_as_parent((int32_t)tree->roots[root_as_parent(node.parent)]);
	else
		node.parent = (int32_t)tree->ids[node.parent];
	if (node.site != PROFILE_SITE_KERNEL)
		node.site = tree->sites[node.site];
	return node;
}

/* Adds a level. In the sum, its parents begin at `above`, or are roots. */
static void fold_level(struct tree *tree, uint32_t *order, size_t nr, size_t above)
{
	size_t begin = tree->nr, nr_parents = begin - above, i;
	struct profile_node node, *last = NULL;

	if (!begin)
		nr_parents = tree->callers->nr_roots;
	for (i = 0; i < nr; i++) {
		node = renumbered(tree, order[i]);
		tree->keys[order[i]] = (uint32_t)(node.parent < 0 ? root_as_parent(node.parent) :
								    node.parent - (int32_t)above);
	}
	sort_nodes(tree, order, nr, nr_parents);
	for (i = 0; i < nr; i++) {
		node = renumbered(tree, order[i]);
		if (last && last->parent == node.parent && last->site == node.site) {
			last->ticks = add_saturating(last->ticks, node.ticks);
			last->waits = add_saturating(last->waits, node.waits);
		} else {
			last = &tree->sum[tree->nr++];
			*last = node;
		}
		tree->ids[order[i]] = (uint32_t)tree->nr - 1;
	}
}

static void fold_levels(struct tree *tree)
{
	size_t nr = tree->callers->nr_nodes, above = 0, begin = 0, from, to;

	sort_by_site(tree);
	sort_by_level(tree);
	for (from = 0; from < nr; from = to) {
		uint32_t level = tree->keys[tree->order[from]];

		for (to = from + 1; to < nr && tree->keys[tree->order[to]] == level; to++)
			;
		begin = tree->nr;
		fold_level(tree, tree->order + from, to - from, above);
		above = begin;
	}
}

static int fold_nodes(struct profile_callers *callers, uint32_t *sites, uint32_t *roots,
		      uint32_t *ids)
{
	size_t nr = callers->nr_nodes + 1;
	size_t nr_counts = max_size(nr, max_size(callers->nr_sites, callers->nr_roots)) + 2;
	cleanup_free uint32_t *keys = calloc(nr, 3 * sizeof(*keys));
	cleanup_free uint32_t *counts = calloc(nr_counts, sizeof(*counts));
	struct profile_node *sum = calloc(nr, sizeof(*sum)), *exact;
	struct tree tree = { callers,	sites,	       roots,  ids, keys,
			     keys + nr, keys + 2 * nr, counts, sum, 0 };

	if (!keys || !counts || !sum) {
		free(sum);
		return -ENOMEM;
	}
	fold_levels(&tree);
	exact = realloc(sum, (tree.nr + 1) * sizeof(*sum));
	free(callers->nodes);
	callers->nodes = exact ? exact : sum;
	callers->nr_nodes = tree.nr;
	return 0;
}

int profile_callers_fold(struct profile_callers *callers)
{
	const struct folding sites =
		FOLD(callers, sites, NULL, profile_site_compare, key_site, NULL);
	const struct folding roots =
		FOLD(callers, roots, profile_root_members, profile_root_compare, NULL, add_root);
	cleanup_free uint32_t *site_ids = calloc(callers->nr_sites + 1, sizeof(*site_ids));
	cleanup_free uint32_t *root_ids = calloc(callers->nr_roots + 1, sizeof(*root_ids));
	cleanup_free uint32_t *node_ids = calloc(callers->nr_nodes + 1, sizeof(*node_ids));
	int ret = site_ids && root_ids && node_ids ? 0 : -ENOMEM;

	if (!ret)
		ret = folding_fold(sites, site_ids);
	if (!ret)
		ret = folding_fold(roots, root_ids);
	return ret ? ret : fold_nodes(callers, site_ids, root_ids, node_ids);
}

/* --- waits ------------------------------------------------------------------------------------ */

static void renumber_classes(struct profile_waits *waits, const uint32_t *ids)
{
	size_t i, j;

	for (i = 0; i < waits->tree.nr_roots; i++)
		waits->tree.roots[i].class = ids[waits->tree.roots[i].class];
	for (i = 0; i < waits->nr_accounts; i++)
		for (j = 0; j < waits->accounts[i].nr_sums; j++)
			waits->accounts[i].sums[j].class = ids[waits->accounts[i].sums[j].class];
}

DEFINE_COMPARE(compare_sums, struct profile_wait_sum, class)

static void add_sum(void *first, const void *equal)
{
	struct profile_wait_sum *sum = first;
	const struct profile_wait_sum *other = equal;

	sum->ns = add_saturating(sum->ns, other->ns);
	sum->count = add_saturating(sum->count, other->count);
}

static void join_sums(struct profile_wait_account *account)
{
	account->nr_sums = COMBINE(account->sums, account->nr_sums, compare_sums, add_sum);
}

static int compare_accounts(const void *left, const void *right)
{
	const struct profile_wait_account *a = left, *b = right;
	int order = compare_u64(a->target, b->target) ?: compare_i64(a->pid, b->pid);

	return order ?: compare_text(a->process, b->process) ?: compare_text(a->cgroup, b->cgroup);
}

static void add_account_figures(struct profile_wait_account *sum,
				const struct profile_wait_account *part)
{
	sum->wall_ns = add_saturating(sum->wall_ns, part->wall_ns);
	sum->cpu_ns = add_saturating(sum->cpu_ns, part->cpu_ns);
	sum->runnable_ns = add_saturating(sum->runnable_ns, part->runnable_ns);
	sum->stolen_ns = add_saturating(sum->stolen_ns, part->stolen_ns);
	sum->unaccounted_ns = add_saturating(sum->unaccounted_ns, part->unaccounted_ns);
}

static int add_account(void *sum, void *part)
{
	struct profile_wait_account *account = sum;
	const struct profile_wait_account *other = part;
	struct profile_wait_sum *sums =
		reallocarray(account->sums, account->nr_sums + other->nr_sums + 1, sizeof(*sums));

	if (!sums)
		return -ENOMEM;
	account->sums = sums;
	add_account_figures(account, other);
	if (other->nr_sums)
		memcpy(sums + account->nr_sums, other->sums, other->nr_sums * sizeof(*sums));
	account->nr_sums += other->nr_sums;
	join_sums(account);
	return 0;
}

/* Equal classes, accounts and chains become one. */
int profile_waits_fold(struct profile_waits *waits)
{
	const struct folding classes = FOLD(waits, classes, profile_wait_class_members,
					    profile_wait_class_compare, NULL, NULL);
	const struct folding accounts = FOLD(waits, accounts, profile_wait_account_members,
					     compare_accounts, NULL, add_account);
	cleanup_free uint32_t *ids = calloc(waits->nr_classes + 1, sizeof(*ids));
	size_t i;
	int ret = ids ? folding_fold(classes, ids) : -ENOMEM;

	if (ret)
		return ret;
	renumber_classes(waits, ids);
	for (i = 0; i < waits->nr_accounts; i++)
		join_sums(&waits->accounts[i]);
	return folding_fold(accounts, NULL) ?: profile_callers_fold(&waits->tree);
}

/* --- the whole -------------------------------------------------------------------------------- */

uint32_t *profile_indices_from(size_t first, size_t nr)
{
	uint32_t *numbers = calloc(nr + 1, sizeof(*numbers));
	size_t i;

	for (i = 0; numbers && i < nr; i++)
		numbers[i] = (uint32_t)(first + i);
	return numbers;
}

static void renumber_tree(struct profile_callers *tree, const uint32_t *targets,
			  const uint32_t *objects)
{
	size_t i;

	for (i = 0; i < tree->nr_roots; i++)
		tree->roots[i].target = targets[tree->roots[i].target];
	for (i = 0; i < tree->nr_sites; i++)
		tree->sites[i].object = objects[tree->sites[i].object];
}

void profile_renumber(struct profile *profile, const uint32_t *targets, const uint32_t *objects)
{
	struct profile_waits *waits = profile->waits;
	size_t i;

	for (i = 0; i < profile->nr_histograms; i++) {
		profile->histograms[i].target = targets[profile->histograms[i].target];
		profile->histograms[i].object = objects[profile->histograms[i].object];
	}
	for (i = 0; i < profile->nr_splits; i++)
		profile->splits[i].target = targets[profile->splits[i].target];
	for (i = 0; i < profile->nr_functions; i++)
		profile->functions[i].object = objects[profile->functions[i].object];
	for (i = 0; waits && i < waits->nr_accounts; i++)
		waits->accounts[i].target = targets[waits->accounts[i].target];
	if (profile->callers)
		renumber_tree(profile->callers, targets, objects);
	if (waits)
		renumber_tree(&waits->tree, targets, objects);
}

static int fold_trees(struct profile *profile)
{
	int ret = profile->callers ? profile_callers_fold(profile->callers) : 0;

	return ret || !profile->waits ? ret : profile_waits_fold(profile->waits);
}

int profile_fold(struct profile *profile)
{
	const struct folding targets = FOLD(profile, targets, profile_target_members,
					    compare_folded_targets, NULL, add_target);
	const struct folding rest[] = {
		FOLDING_OF_SPLITS(profile),
		FOLDING_OF_HISTOGRAMS(profile),
		FOLDING_OF_FUNCTIONS(profile),
		FOLD(profile, notes, NULL, profile_notes_compare, NULL, profile_notes_add),
		FOLD(profile, labels, profile_label_members, compare_labels, NULL, add_label),
		FOLD(profile, hosts, profile_host_members, compare_hosts, NULL, NULL),
	};
	cleanup_free uint32_t *target_ids = calloc(profile->nr_targets + 1, sizeof(*target_ids));
	cleanup_free uint32_t *object_ids = calloc(profile->nr_objects + 1, sizeof(*object_ids));
	size_t i;
	int ret = target_ids && object_ids ? 0 : -ENOMEM;

	if (!ret)
		ret = profile_notes_forget_cpus(profile);
	/* Fold objects first, because their hosts depend on the targets' old ids. */
	if (!ret)
		ret = fold_objects(profile, object_ids);
	if (!ret)
		ret = folding_fold(targets, target_ids);
	if (ret)
		return ret;
	profile_note_kinds(profile);
	profile_renumber(profile, target_ids, object_ids);
	ret = align_wholes(profile);
	for (i = 0; i < sizeof(rest) / sizeof(rest[0]) && !ret; i++)
		ret = folding_fold(rest[i], NULL);
	return ret ? ret : fold_trees(profile);
}

/* --- copies of a file --- */

struct file_copy {
	const struct profile_object *object;
	uint32_t id;
};

static int compare_files(const struct file_copy *a, const struct file_copy *b)
{
	int order = strcmp(a->object->build_id, b->object->build_id);

	return order ? order : compare_text(a->object->path, b->object->path);
}

DEFINE_COMPARE_AS(compare_copies, struct file_copy,
		  compare_files(a, b) ?: compare_u64(a->id, b->id))

/*
 * Finds the first object that is the same file as each object. Returns how many objects are copies.
 */
static size_t find_copies(const struct profile *profile, struct file_copy *files, uint32_t *first)
{
	const struct profile_object *object;
	size_t nr = 0, found = 0, i;

	for (i = 0; i < profile->nr_objects; i++) {
		object = &profile->objects[i];
		first[i] = (uint32_t)i;
		if (object->kind == PROFILE_FILE && object->build_id)
			files[nr++] = (struct file_copy){ object, (uint32_t)i };
	}
	SORT(files, nr, compare_copies);
	for (i = 1; i < nr; i++) {
		if (compare_files(&files[i - 1], &files[i]) != 0)
			continue;
		first[files[i].id] = first[files[i - 1].id];
		found++;
	}
	return found;
}

/* Frees copies, and makes ids for the remaining objects. */
static void drop_copies(struct profile *profile, uint32_t *ids)
{
	size_t i, nr = 0;

	for (i = 0; i < profile->nr_objects; i++) {
		if (ids[i] != i) {
			ids[i] = ids[ids[i]];
			profile_object_free(&profile->objects[i]);
			continue;
		}
		ids[i] = (uint32_t)nr;
		profile->objects[nr++] = profile->objects[i];
	}
	profile->nr_objects = nr;
}

int profile_join_copies(struct profile *profile)
{
	cleanup_free struct file_copy *files = calloc(profile->nr_objects + 1, sizeof(*files));
	cleanup_free uint32_t *ids = calloc(profile->nr_objects + 1, sizeof(*ids));
	cleanup_free uint32_t *targets = profile_indices_from(0, profile->nr_targets);
	int ret;

	if (!files || !ids || !targets)
		return -ENOMEM;
	if (!find_copies(profile, files, ids))
		return 0;
	drop_copies(profile, ids);
	profile_renumber(profile, targets, ids);
	ret = folding_fold(FOLDING_OF_HISTOGRAMS(profile), NULL);
	if (!ret)
		ret = folding_fold(FOLDING_OF_FUNCTIONS(profile), NULL);
	if (!ret)
		ret = fold_trees(profile);
	SORT(profile->functions, profile->nr_functions, profile_function_compare);
	return ret;
}
