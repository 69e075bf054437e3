// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "profile/profile_chains.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/*
 * The order of histograms: the text, the size of bins, the offset. A text may have bins of several
 * sizes, if memory ran short, or if profiles with different sizes were added up.
 */
struct histogram_key {
	struct profile_histogram key;
	uint32_t histogram;
};

/* Some ticks of a bin. Bins are numbered over all histograms. */
struct bin_chain {
	size_t bin;
	uint64_t ticks;
	uint32_t node;
};

/* The chains of bins so far. */
struct assigned {
	struct bin_chain *all;
	size_t nr, room;
};

#define NO_BIN SIZE_MAX

/* Limit of bin sizes for a text; others get no chains. It bounds the cost of a crafted profile. */
#define BIN_SIZES_MAX 16

struct profile_chains {
	const struct profile *profile;
	const struct profile_callers *callers; /* NULL: none */
	uint32_t *roots; /* by node */
	uint32_t *frames; /* by node: itself, or the frame on whose behalf the kernel ran */
	struct histogram_key *texts; /* sorted */
	size_t nr_texts;
	size_t *bins; /* by histogram: number of its first bin */
	uint64_t *unassigned; /* by bin: ticks without a chain so far */
	size_t *first; /* the chains of bin b: all[first[b]] ... all[first[b + 1] - 1] */
	struct profile_chain *all;
	struct profile_chain none; /* for bins of a profile without callers */
};

static int compare_texts(const void *left, const void *right)
{
	const struct profile_histogram *a = &((const struct histogram_key *)left)->key;
	const struct profile_histogram *b = &((const struct histogram_key *)right)->key;
	int order = profile_compare_texts(a, b);

	order = order ?: compare_u64(a->bytes_per_bin, b->bytes_per_bin);
	return order ?: compare_u64(a->offset, b->offset);
}

/*
 * Adds the key of a histogram. JIT text always has a pid, but roots may have none; for these it
 * gets a second key without one.
 */
static void add_texts(struct profile_chains *chains, uint32_t i)
{
	struct histogram_key text = { chains->profile->histograms[i], i };

	if (text.key.overflow)
		return;
	chains->texts[chains->nr_texts++] = text;
	if (chains->profile->objects[text.key.object].kind != PROFILE_JIT || text.key.pid < 0)
		return;
	text.key.pid = -1;
	text.key.process = NULL;
	chains->texts[chains->nr_texts++] = text;
}

/* The number of texts before a key, including equal ones. */
static size_t texts_up_to(const struct profile_chains *chains, const struct histogram_key *key)
{
	return BISECT(i, chains->nr_texts, compare_texts(&chains->texts[i], key) <= 0);
}

/* The bin that contains an offset of a text; NO_BIN: there is none. */
static size_t bin_at(const struct profile_chains *chains, const struct histogram_key *text,
		     uint64_t offset)
{
	const struct profile_histogram *histogram = &text->key;
	const uint64_t index = (offset - histogram->offset) / histogram->bytes_per_bin;
	size_t at = BISECT(i, histogram->nr_bins, histogram->bins[i].index < index);

	if (at == histogram->nr_bins || histogram->bins[at].index != index)
		return NO_BIN;
	return chains->bins[text->histogram] + at;
}

/* Moves ticks of a node to a bin, as many as both have left. */
static int assign(struct profile_chains *chains, size_t bin, uint32_t node, uint64_t *node_ticks,
		  struct assigned *assigned)
{
	const uint64_t ticks = *node_ticks < chains->unassigned[bin] ? *node_ticks :
								       chains->unassigned[bin];

	if (!ticks)
		return 0;
	if (PUSH(assigned->all, assigned->room, assigned->nr,
		 (struct bin_chain){ bin, ticks, node }))
		return -ENOMEM;
	chains->unassigned[bin] -= ticks;
	*node_ticks -= ticks;
	return 0;
}

/*
 * Assigns a node's ticks to the bins with the text of its frame, the finest first. For each size of
 * bins: jumps to it, finds the histogram at or before the offset, jumps behind it.
 */
static int assign_node(struct profile_chains *chains, uint32_t node, struct assigned *assigned)
{
	const struct profile_callers *callers = chains->callers;
	const struct profile_root *root = &callers->roots[chains->roots[node]];
	const struct profile_site *site =
		&callers->sites[callers->nodes[chains->frames[node]].site];
	struct histogram_key key = { .key = { .target = root->target,
					      .object = site->object,
					      .pid = root->pid,
					      .process = root->process,
					      .cgroup = root->cgroup } };
	uint64_t node_ticks = callers->nodes[node].ticks;
	size_t at = texts_up_to(chains, &key), bin, sizes;
	const struct histogram_key *text;

	for (sizes = 0; node_ticks && sizes < BIN_SIZES_MAX; sizes++) {
		if (at == chains->nr_texts ||
		    profile_compare_texts(&chains->texts[at].key, &key.key))
			break;
		key.key.bytes_per_bin = chains->texts[at].key.bytes_per_bin;
		key.key.offset = site->offset;
		at = texts_up_to(chains, &key);
		text = at ? &chains->texts[at - 1] : NULL;
		if (text && !profile_compare_texts(&text->key, &key.key) &&
		    text->key.bytes_per_bin == key.key.bytes_per_bin) {
			bin = bin_at(chains, text, site->offset);
			if (bin != NO_BIN && assign(chains, bin, node, &node_ticks, assigned))
				return -ENOMEM;
		}
		key.key.offset = UINT64_MAX;
		at = texts_up_to(chains, &key);
	}
	return 0;
}

DEFINE_COMPARE_2(compare_chains, struct bin_chain, bin, node)

/* Ticks in the tree beyond those of the bin are dropped. */
static int assign_nodes(struct profile_chains *chains, struct assigned *assigned)
{
	const struct profile_callers *callers = chains->callers;
	int ret = 0;
	uint32_t i;

	for (i = 0; !ret && i < callers->nr_nodes; i++)
		if (callers->nodes[i].ticks && chains->frames[i] != PROFILE_NO_NODE)
			ret = assign_node(chains, i, assigned);
	return ret;
}

static struct profile_chain chain_of(const struct profile_chains *chains,
				     const struct bin_chain *assigned)
{
	const uint32_t frame = chains->frames[assigned->node];

	return (struct profile_chain){ assigned->ticks, frame, frame != assigned->node };
}

/* Lists for each bin its chains, and its ticks without a chain. */
static int put_in_bins(struct profile_chains *chains, const struct assigned *assigned,
		       size_t nr_bins)
{
	size_t i, bin, at = 0;

	SORT(assigned->all, assigned->nr, compare_chains);
	chains->all = calloc(assigned->nr + nr_bins + 1, sizeof(*chains->all));
	if (!chains->all)
		return -ENOMEM;
	for (i = 0, bin = 0; bin < nr_bins; bin++) {
		chains->first[bin] = at;
		for (; i < assigned->nr && assigned->all[i].bin == bin; i++)
			chains->all[at++] = chain_of(chains, &assigned->all[i]);
		if (chains->unassigned[bin])
			chains->all[at++] = (struct profile_chain){ chains->unassigned[bin],
								    PROFILE_NO_NODE, false };
	}
	chains->first[nr_bins] = at;
	return 0;
}

static int fill_bins(struct profile_chains *chains, size_t nr_bins)
{
	struct assigned assigned = { 0 };
	int ret = assign_nodes(chains, &assigned);

	if (!ret)
		ret = put_in_bins(chains, &assigned, nr_bins);
	free(assigned.all);
	return ret;
}

static int find_frames(struct profile_chains *chains)
{
	const struct profile_callers *callers = chains->callers;
	cleanup_free uint32_t *depths = calloc(callers->nr_nodes + 1, sizeof(*depths));
	uint32_t i;

	for (i = 0; depths && i < callers->nr_nodes; i++) {
		const struct profile_node *node = &callers->nodes[i];
		bool below = node->parent >= 0;

		depths[i] = below ? depths[node->parent] + 1 : 1;
		chains->frames[i] = i;
		if (node->site == PROFILE_SITE_KERNEL)
			chains->frames[i] = below ? chains->frames[node->parent] : PROFILE_NO_NODE;
		if (depths[i] > PROFILE_CHAIN_DEPTH)
			chains->frames[i] = PROFILE_NO_NODE;
	}
	return depths ? 0 : -ENOMEM;
}

static size_t number_bins(struct profile_chains *chains)
{
	const struct profile *profile = chains->profile;
	size_t nr = 0;
	uint32_t i;

	for (i = 0; i < profile->nr_histograms; i++) {
		chains->bins[i] = nr;
		nr += profile->histograms[i].nr_bins;
		add_texts(chains, i);
	}
	SORT(chains->texts, chains->nr_texts, compare_texts);
	return nr;
}

static int fill_chains(struct profile_chains *chains)
{
	const struct profile *profile = chains->profile;
	size_t nr_bins, i, j;

	chains->roots = profile_callers_roots(chains->callers);
	chains->frames = calloc(chains->callers->nr_nodes + 1, sizeof(*chains->frames));
	chains->texts = calloc(2 * profile->nr_histograms + 1, sizeof(*chains->texts));
	chains->bins = calloc(profile->nr_histograms + 1, sizeof(*chains->bins));
	if (!chains->roots || !chains->frames || !chains->texts || !chains->bins ||
	    find_frames(chains))
		return -ENOMEM;
	nr_bins = number_bins(chains);
	chains->unassigned = calloc(nr_bins + 1, sizeof(*chains->unassigned));
	chains->first = calloc(nr_bins + 1, sizeof(*chains->first));
	if (!chains->unassigned || !chains->first)
		return -ENOMEM;
	for (i = 0; i < profile->nr_histograms; i++)
		for (j = 0; j < profile->histograms[i].nr_bins; j++)
			chains->unassigned[chains->bins[i] + j] =
				profile->histograms[i].bins[j].count;
	return fill_bins(chains, nr_bins);
}

struct profile_chains *profile_chains_new(const struct profile *profile)
{
	struct profile_chains *chains = calloc(1, sizeof(*chains));

	if (!chains)
		return NULL;
	chains->profile = profile;
	chains->callers = profile->callers;
	if (chains->callers && fill_chains(chains)) {
		profile_chains_free(chains);
		return NULL;
	}
	return chains;
}

void profile_chains_free(struct profile_chains *chains)
{
	if (!chains)
		return;
	free(chains->roots);
	free(chains->frames);
	free(chains->texts);
	free(chains->bins);
	free(chains->unassigned);
	free(chains->first);
	free(chains->all);
	free(chains);
}

const struct profile_chain *profile_chains_of(struct profile_chains *chains,
					      const struct profile_histogram *histogram, size_t i,
					      size_t *nr)
{
	size_t bin;

	if (!chains->callers) {
		*nr = 1;
		chains->none =
			(struct profile_chain){ histogram->bins[i].count, PROFILE_NO_NODE, false };
		return &chains->none;
	}
	bin = chains->bins[histogram - chains->profile->histograms] + i;
	*nr = chains->first[bin + 1] - chains->first[bin];
	return &chains->all[chains->first[bin]];
}

#define CUT_NAME(id, key, text) [END_##id] = "[cut: " key "]",
const char *const profile_cut_names[] = { WALK_CUTS(CUT_NAME)[WALK_END_COUNT] = "[cut]" };
#undef CUT_NAME

enum walk_end profile_chain_end(const struct profile_chains *chains, uint32_t node)
{
	return node == PROFILE_NO_NODE ? WALK_END_COUNT :
					 chains->callers->roots[chains->roots[node]].end;
}

/* --- contexts --------------------------------------------------------------------------------- */

static uint32_t *slot_of_context(const struct chain_tree *tree, struct chain_context context)
{
	return HASH_SLOT(&tree->index, hash_mix(context.parent, (uint64_t)context.frame << 32), i,
			 tree->all[i].parent == context.parent &&
				 tree->all[i].frame == context.frame);
}

uint32_t chain_tree_child(struct chain_tree *tree, uint32_t parent, uint32_t frame)
{
	const struct chain_context context = { parent, frame };
	uint32_t *slot;

	if (HASH_RESERVE(&tree->index, tree->nr + 1, i, 1, tree->nr,
			 slot_of_context(tree, tree->all[i])))
		return 0;
	slot = slot_of_context(tree, context);
	if (*slot)
		return *slot - 1;
	if (GROW(tree->all, tree->capacity, tree->nr + 2))
		return 0;
	if (!tree->nr)
		tree->all[tree->nr++] = (struct chain_context){ 0 };
	tree->all[tree->nr] = context;
	*slot = (uint32_t)++tree->nr;
	return *slot - 1;
}

void chain_tree_free(struct chain_tree *tree)
{
	free(tree->all);
	free(tree->index.slots);
}

/* --- programs --------------------------------------------------------------------------------- */

/* Whether the name is that of a shared library: NAME.so, or NAME.so.VERSION. */
static bool is_library(const char *name)
{
	const char *end = strstr(name, ".so");

	return end && (!end[3] || end[3] == '.');
}

const struct profile_object *profile_as_program(const struct profile_object *object)
{
	if (!object || object->kind != PROFILE_FILE || is_library(profile_object_base(object)))
		return NULL;
	return object;
}

/* A context has the program of its parent, or else its own object. Parents come first. */
const struct profile_object **chain_tree_programs(const struct chain_tree *tree,
						  frame_object object_of, const void *of)
{
	const struct profile_object **programs = calloc(tree->nr + 1, sizeof(*programs));
	size_t i;

	for (i = 1; programs && i < tree->nr; i++)
		programs[i] = programs[tree->all[i].parent] ?:
				      profile_as_program(object_of(of, tree->all[i].frame));
	return programs;
}
