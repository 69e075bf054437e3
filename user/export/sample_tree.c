// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "export/sample_tree.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "profile/profile_chains.h"
#include "symbol/string_set.h"

/*
 * LLVM keeps so many bits of a line's distance from its function's first line, which macros may
 * make negative.
 */
#define OFFSET_MASK 0xffff

/*
 * A place in a function: the distance from its first line, and below that the discriminator's
 * block, which has 12 bits.
 */
#define PLACE_SHIFT 12

/* Beside the counts of a function's places: how often it is entered. It comes after these. */
#define ENTRIES UINT32_MAX

struct count {
	uint32_t node;
	uint32_t place;
	uint64_t count;
};

struct sample_tree {
	struct string_set names;
	struct chain_tree
		functions; /* a function's name, and the place of its call; 0: not inlined */
	struct chain_tree nodes; /* each function below the one that it is inlined into */
	struct count *counts; /* unsorted until they are written */
	size_t nr, room;
};

struct sample_tree *sample_tree_new(void)
{
	return calloc(1, sizeof(struct sample_tree));
}

void sample_tree_free(struct sample_tree *tree)
{
	if (!tree)
		return;
	string_set_free(&tree->names);
	chain_tree_free(&tree->functions);
	chain_tree_free(&tree->nodes);
	free(tree->counts);
	free(tree);
}

/*
 * A discriminator has three components, each of 1, 7 or 14 bits: the line's block, the factor of
 * unrolling, and the number of the copy.
 */
static uint32_t component(uint32_t discriminator)
{
	if (discriminator & 1)
		return 0;
	discriminator >>= 1;
	if (discriminator & 0x20)
		return ((discriminator >> 1) & 0xfe0) | (discriminator & 0x1f);
	return discriminator & 0x1f;
}

static uint32_t next_component(uint32_t discriminator)
{
	if (discriminator & 1)
		return discriminator >> 1;
	return discriminator >> (discriminator & 0x40 ? 14 : 7);
}

static uint32_t times_unrolled(uint32_t discriminator)
{
	uint32_t times = component(next_component(discriminator));

	return times ? times : 1;
}

/* Whether the name cannot confuse a parser or a terminal. Compilers only make such names. */
static bool is_nameable(const char *name)
{
	size_t length;

	if (!*name || strchr("0123456789#![", *name))
		return false;
	for (; *name; name += length) {
		length = utf8_sequence(name, strnlen(name, 4));
		if (!length || *name == ' ' || utf8_is_control(name, length))
			return false;
	}
	return true;
}

static bool is_usable(const struct source_line *line)
{
	for (; line; line = line->caller)
		if (!line->line || !line->scope || !line->scope->line || !line->scope->name ||
		    !is_nameable(line->scope->name))
			return false;
	return true;
}

static uint32_t place_of(const struct source_line *line)
{
	return ((line->line - line->scope->line) & OFFSET_MASK) << PLACE_SHIFT |
	       component(line->discriminator);
}

/* 0: out of memory. */
static uint32_t node_of(struct sample_tree *tree, const struct source_line *line)
{
	const uint32_t parent = line->caller ? node_of(tree, line->caller) : 0;
	const uint32_t name = string_set_number(&tree->names, line->scope->name);
	uint32_t function;

	if (!name || (line->caller && !parent))
		return 0;
	function =
		chain_tree_child(&tree->functions, name, line->caller ? place_of(line->caller) : 0);
	return function ? chain_tree_child(&tree->nodes, parent, function) : 0;
}

static int add_count(struct sample_tree *tree, uint32_t node, uint32_t place, uint64_t count)
{
	const struct count added = { node, place, count };

	return node ? PUSH(tree->counts, tree->room, tree->nr, added) : -ENOMEM;
}

bool sample_tree_add(struct sample_tree *tree, const struct source_line *line, uint64_t count,
		     bool entry, int *err)
{
	if (!is_usable(line))
		return false;
	*err = add_count(tree, node_of(tree, line), place_of(line),
			 count * times_unrolled(line->discriminator));
	if (*err || !entry)
		return true;
	while (line->caller)
		line = line->caller;
	*err = add_count(tree, node_of(tree, line), ENTRIES, count);
	return true;
}

/* --- the text --------------------------------------------------------------------------------- */

struct sample_tree_writer {
	const struct sample_tree *tree;
	uint64_t *totals; /* by node: counts in it and in what was inlined there */
	uint64_t *entries; /* by node */
	uint32_t *sorted; /* nodes in the order of the text, by parent */
	size_t nr;
	FILE *stream;
};

DEFINE_COMPARE_2(compare_places, struct count, node, place)

static void keep_highest(void *first, const void *equal)
{
	struct count *highest = first;
	const struct count *other = equal;

	if (other->count > highest->count)
		highest->count = other->count;
}

/* Parents come before their children. */
static void sum_nodes(struct sample_tree_writer *writer)
{
	const struct sample_tree *tree = writer->tree;
	size_t i;

	for (i = 0; i < tree->nr; i++) {
		const struct count *count = &tree->counts[i];

		if (count->place == ENTRIES)
			writer->entries[count->node] = count->count;
		else
			writer->totals[count->node] += count->count;
	}
	for (i = tree->nodes.nr; i-- > 1;)
		writer->totals[tree->nodes.all[i].parent] += writer->totals[i];
}

/* A function's name, as number of a string, and the place of its call. */
static const struct chain_context *function_of(const struct sample_tree *tree, uint32_t node)
{
	return &tree->functions.all[tree->nodes.all[node].frame];
}

static const char *name_of(const struct sample_tree *tree, uint32_t node)
{
	return tree->names.all[function_of(tree, node)->parent - 1];
}

/* Inlined functions are ordered by place, others by heat. */
static int compare_nodes(const void *left, const void *right, void *of)
{
	const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const struct sample_tree_writer *writer = of;
	const struct sample_tree *tree = writer->tree;
	const uint32_t parent = tree->nodes.all[a].parent;
	int order = compare_u64(parent, tree->nodes.all[b].parent);

	if (!order && parent)
		order = compare_u64(function_of(tree, a)->frame, function_of(tree, b)->frame);
	else if (!order)
		order = compare_u64(writer->totals[b], writer->totals[a]);
	return order ?: strcmp(name_of(tree, a), name_of(tree, b));
}

static void put_place(FILE *stream, int depth, uint32_t place)
{
	const uint32_t block = place & ((1 << PLACE_SHIFT) - 1);

	fprintf(stream, "%*s%" PRIu32, depth, "", place >> PLACE_SHIFT);
	if (block)
		fprintf(stream, ".%" PRIu32, block);
	fputs(": ", stream);
}

/*
 * Drops places with count 0: for LLVM, 0 means code that never runs, but it infers the count of a
 * missing line from its neighbours. With one tick per some hundred thousand instructions, we do not
 * know more. sqlite3 built with the zeros executed 0.8 % more instructions.
 */
static void put_counts(const struct sample_tree_writer *writer, uint32_t node, int depth)
{
	const struct sample_tree *tree = writer->tree;
	size_t i = BISECT(at, tree->nr, tree->counts[at].node < node);

	for (; i < tree->nr && tree->counts[i].node == node; i++) {
		if (!tree->counts[i].count || tree->counts[i].place == ENTRIES)
			continue;
		put_place(writer->stream, depth, tree->counts[i].place);
		fprintf(writer->stream, "%" PRIu64 "\n", tree->counts[i].count);
	}
}

/* Writes what was inlined into a node; for node 0 all functions. */
static void put_children(const struct sample_tree_writer *writer, uint32_t parent, int depth)
{
	const struct sample_tree *tree = writer->tree;
	const struct chain_context *nodes = tree->nodes.all;
	size_t i = BISECT(at, writer->nr, nodes[writer->sorted[at]].parent < parent);

	for (; i < writer->nr && nodes[writer->sorted[i]].parent == parent; i++) {
		const uint32_t node = writer->sorted[i];

		if (parent)
			put_place(writer->stream, depth, function_of(tree, node)->frame);
		fprintf(writer->stream, "%s:%" PRIu64, name_of(tree, node), writer->totals[node]);
		if (!parent)
			fprintf(writer->stream, ":%" PRIu64, writer->entries[node]);
		fputc('\n', writer->stream);
		put_counts(writer, node, depth + 1);
		put_children(writer, node, depth + 1);
	}
}

int sample_tree_write(struct sample_tree *tree, FILE *stream)
{
	const size_t nr = tree->nodes.nr;
	cleanup_free uint64_t *totals = calloc(nr + 1, sizeof(*totals));
	cleanup_free uint64_t *entries = calloc(nr + 1, sizeof(*entries));
	cleanup_free uint32_t *sorted = calloc(nr + 1, sizeof(*sorted));
	struct sample_tree_writer writer = { tree, totals, entries, sorted, 0, stream };
	uint32_t i;

	if (!totals || !entries || !sorted)
		return -ENOMEM;
	tree->nr = COMBINE(tree->counts, tree->nr, compare_places, keep_highest);
	sum_nodes(&writer);
	for (i = 1; i < nr; i++)
		sorted[writer.nr++] = i;
	qsort_r(sorted, writer.nr, sizeof(*sorted), compare_nodes, &writer);
	put_children(&writer, 0, 0);
	return totals[0] ? 0 : -ENODATA;
}
