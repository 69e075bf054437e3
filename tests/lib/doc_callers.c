// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "doc_callers.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

static struct json_object *list_of(struct json_object *doc, const char *path, size_t *ret_nr)
{
	struct json_object *list = doc_get(doc, path);

	*ret_nr = json_object_array_length(list);
	return list;
}

static int64_t number_at(struct json_object *list, size_t i, size_t member)
{
	struct json_object *row = json_object_array_get_idx(list, i);

	return json_object_get_int64(json_object_array_get_idx(row, member));
}

/* Of a site: the kernel's addresses are above what a signed number holds. */
static uint64_t offset_at(struct json_object *sites, size_t i)
{
	struct json_object *row = json_object_array_get_idx(sites, i);

	return json_object_get_uint64(json_object_array_get_idx(row, 1));
}

/* By node: its root, which is that of the node above it. The caller frees it. */
static size_t *roots_of(struct json_object *nodes, size_t nr)
{
	size_t *result = calloc(nr + 1, sizeof(*result)), i;
	int64_t parent;

	cr_assert(result);
	for (i = 0; i < nr; i++) {
		parent = number_at(nodes, i, 0);
		cr_assert_lt(parent, (int64_t)i, "a child before its parent");
		result[i] = parent < 0 ? (size_t)(-1 - parent) : result[parent];
	}
	return result;
}

struct function {
	int64_t object;
	uint64_t offset, size;
};

/* Of a whole host they are many, so that each is looked up in the document only once. The caller frees them. */
static struct function *functions_of(struct json_object *doc, size_t *ret_nr)
{
	struct json_object *list = list_of(doc, "functions", ret_nr), *function;
	struct function *result = calloc(*ret_nr + 1, sizeof(*result));
	size_t i;

	cr_assert(result);
	for (i = 0; i < *ret_nr; i++) {
		function = json_object_array_get_idx(list, i);
		result[i] = (struct function){ (int64_t)doc_number(function, "object"),
					       doc_number(function, "offset"),
					       doc_number(function, "size") };
	}
	return result;
}

/* The function around a site; -1: none. A bin of several functions is one too, and wider than each of them. */
static int64_t function_at(const struct function *functions, size_t nr, int64_t object,
			   uint64_t offset)
{
	uint64_t least = UINT64_MAX;
	int64_t found = -1;
	size_t i;

	for (i = 0; i < nr; i++) {
		const struct function *function = &functions[i];

		if (function->object != object || function->size >= least ||
		    offset - function->offset >= function->size)
			continue;
		least = function->size;
		found = (int64_t)i;
	}
	return found;
}

/* By site: its function. The caller frees it. */
static int64_t *functions_of_sites(struct json_object *doc)
{
	size_t nr, nr_functions, i;
	struct json_object *sites = list_of(doc, "callers.sites", &nr);
	struct function *functions = functions_of(doc, &nr_functions);
	int64_t *result = calloc(nr + 1, sizeof(*result));

	cr_assert(result);
	for (i = 0; i < nr; i++)
		result[i] = function_at(functions, nr_functions, number_at(sites, i, 0),
					offset_at(sites, i));
	free(functions);
	return result;
}

static const char *function_name(struct json_object *doc, int64_t function)
{
	if (function < 0)
		return "";
	return json_object_get_string(doc_get(
		json_object_array_get_idx(doc_get(doc, "functions"), (size_t)function), "name"));
}

void doc_assert_chains(struct json_object *doc)
{
	size_t nr_targets, nr_roots, nr_nodes, i;
	struct json_object *targets = list_of(doc, "targets", &nr_targets);
	struct json_object *roots = list_of(doc, "callers.roots", &nr_roots);
	struct json_object *nodes = list_of(doc, "callers.nodes", &nr_nodes);
	uint64_t *sums = calloc(nr_targets + 1, sizeof(*sums));
	size_t *root_of = roots_of(nodes, nr_nodes);

	cr_assert(sums);
	for (i = 0; i < nr_roots; i++) {
		struct json_object *root = json_object_array_get_idx(roots, i);

		sums[doc_number(root, "target")] += doc_number(root, "ticks");
	}
	for (i = 0; i < nr_nodes; i++) {
		struct json_object *root = json_object_array_get_idx(roots, root_of[i]);

		sums[doc_number(root, "target")] += (uint64_t)number_at(nodes, i, 2);
	}
	for (i = 0; i < nr_targets; i++) {
		struct json_object *ticks = doc_get(json_object_array_get_idx(targets, i), "ticks");

		cr_expect_eq(sums[i],
			     doc_number(ticks, "total") - doc_number(ticks, "filtered") -
				     doc_lost(json_object_array_get_idx(targets, i), NULL),
			     "target %zu: %lu ticks have a chain", i, sums[i]);
	}
	free(root_of);
	free(sums);
}

/* Ticks in the kernel for a frame are that frame's, as in the histogram. */
static void assert_flat(struct json_object *doc)
{
	size_t nr_functions, nr_nodes, i;
	struct json_object *functions = list_of(doc, "functions", &nr_functions);
	struct json_object *nodes = list_of(doc, "callers.nodes", &nr_nodes);
	uint64_t *sums = calloc(nr_functions + 1, sizeof(*sums));
	int64_t *of_site = functions_of_sites(doc), function;

	cr_assert(sums);
	for (i = 0; i < nr_nodes; i++) {
		int64_t node = (int64_t)i;

		if (number_at(nodes, i, 1) < 0)
			node = number_at(nodes, i, 0);
		function = node < 0 ? -1 : of_site[number_at(nodes, (size_t)node, 1)];
		if (function >= 0)
			sums[function] += (uint64_t)number_at(nodes, i, 2);
	}
	for (i = 0; i < nr_functions; i++)
		cr_expect_eq(sums[i], doc_number(json_object_array_get_idx(functions, i), "ticks"),
			     "%s has %lu ticks by its chains", function_name(doc, (int64_t)i),
			     sums[i]);
	free(of_site);
	free(sums);
}

void doc_assert_callers(struct json_object *doc)
{
	doc_assert_chains(doc);
	if (!doc_ended(doc, "full"))
		assert_flat(doc);
}

/* Whether a function is in the chain of a node, which is a leaf of it or not. */
static bool is_in_chain(struct json_object *doc, struct json_object *nodes, const int64_t *of_site,
			size_t node, const char *name)
{
	for (;;) {
		int64_t parent = number_at(nodes, node, 0), site = number_at(nodes, node, 1);

		if (site >= 0 && !strcmp(function_name(doc, of_site[site]), name))
			return true;
		if (parent < 0)
			return false;
		node = (size_t)parent;
	}
}

uint64_t doc_called(struct json_object *doc, const char *name, const char *caller)
{
	size_t nr, i;
	struct json_object *nodes = list_of(doc, "callers.nodes", &nr);
	int64_t *of_site = functions_of_sites(doc);
	uint64_t sum = 0;

	for (i = 0; i < nr; i++)
		if (number_at(nodes, i, 2) && is_in_chain(doc, nodes, of_site, i, name) &&
		    is_in_chain(doc, nodes, of_site, i, caller))
			sum += (uint64_t)number_at(nodes, i, 2);
	free(of_site);
	return sum;
}

uint64_t doc_inclusive(struct json_object *doc, const char *name)
{
	return doc_called(doc, name, name);
}

static const char *name_of_node(struct json_object *doc, struct json_object *nodes,
				const int64_t *of_site, int64_t node)
{
	int64_t site = number_at(nodes, (size_t)node, 1);

	return site < 0 ? "" : function_name(doc, of_site[site]);
}

/* From the node of the first frame that is in a node's chain; false: it is in none. */
static bool check_backtrace(struct json_object *doc, struct json_object *nodes,
			    const int64_t *of_site, int64_t node, const char *const frames[])
{
	size_t i;

	while (node >= 0 && fnmatch(frames[0], name_of_node(doc, nodes, of_site, node), 0))
		node = number_at(nodes, (size_t)node, 0);
	if (node < 0)
		return false;
	for (i = 0; frames[i]; i++) {
		cr_assert(node >= 0, "the chain ends below %s", frames[i]);
		cr_expect_eq(fnmatch(frames[i], name_of_node(doc, nodes, of_site, node), 0), 0,
			     "%s, not %s", name_of_node(doc, nodes, of_site, node), frames[i]);
		node = number_at(nodes, (size_t)node, 0);
	}
	return true;
}

uint64_t doc_backtraces(struct json_object *doc, const char *const frames[])
{
	size_t nr, i;
	struct json_object *nodes = list_of(doc, "callers.nodes", &nr);
	struct json_object *roots = doc_get(doc, "callers.roots"), *root;
	int64_t *of_site = functions_of_sites(doc);
	size_t *root_of = roots_of(nodes, nr);
	uint64_t sum = 0;

	for (i = 0; i < nr; i++) {
		root = json_object_array_get_idx(roots, root_of[i]);
		if (number_at(nodes, i, 2) &&
		    !strcmp(json_object_get_string(doc_get(root, "end")), "complete") &&
		    check_backtrace(doc, nodes, of_site, (int64_t)i, frames))
			sum += (uint64_t)number_at(nodes, i, 2);
	}
	free(root_of);
	free(of_site);
	return sum;
}

static bool has_word(struct json_object *of, const char *member, const char *word)
{
	struct json_object *text = NULL;

	if (!word)
		return true;
	json_object_object_get_ex(of, member, &text);
	return text && !strcmp(json_object_get_string(text), word);
}

/* A list is a member of "callers" or "waits", and its numbers of roots are `unit`. */
static uint64_t sum_ended(struct json_object *doc, const char *roots_name, const char *nodes_name,
			  const char *unit, const char *process, const char *end)
{
	size_t nr_roots, nr_nodes, i;
	struct json_object *roots = list_of(doc, roots_name, &nr_roots);
	struct json_object *nodes = list_of(doc, nodes_name, &nr_nodes);
	size_t *root_of = roots_of(nodes, nr_nodes);
	uint64_t sum = 0;

	for (i = 0; i < nr_nodes + nr_roots; i++) {
		size_t root = i < nr_nodes ? root_of[i] : i - nr_nodes;
		struct json_object *of = json_object_array_get_idx(roots, root);

		if (!has_word(of, "process", process) || !has_word(of, "end", end))
			continue;
		sum += i < nr_nodes ? (uint64_t)number_at(nodes, i, 2) : doc_number(of, unit);
	}
	free(root_of);
	return sum;
}

uint64_t doc_ended_in(struct json_object *doc, const char *process, const char *end)
{
	return sum_ended(doc, "callers.roots", "callers.nodes", "ticks", process, end);
}

uint64_t doc_waited_in(struct json_object *doc, const char *process, const char *end)
{
	return sum_ended(doc, "waits.roots", "waits.nodes", "ns", process, end);
}

uint64_t doc_ended(struct json_object *doc, const char *end)
{
	return doc_ended_in(doc, NULL, end);
}

uint64_t doc_deepest(struct json_object *doc)
{
	size_t nr, i;
	struct json_object *nodes = list_of(doc, "callers.nodes", &nr);
	uint64_t deepest = 0, depth;
	int64_t at;

	for (i = 0; i < nr; i++) {
		depth = 0;
		for (at = (int64_t)i; at >= 0; at = number_at(nodes, (size_t)at, 0))
			depth++;
		deepest = depth > deepest ? depth : deepest;
	}
	return deepest;
}
