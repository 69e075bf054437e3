// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* From the store to the histograms of a profile. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "host/engine/jit_text.h"
#include "host/engine/store_impl.h"

/*
 * Ticks with the same key share a histogram. Replaced code has another one, and doubtful code a
 * third one, because their places are far from all others.
 */
struct bins_key {
	uint64_t split;
	uint32_t target;
	uint32_t object;
	uint32_t shift;
	uint32_t text;
	uint32_t replaced; /* 0: the code was not replaced */
};

/* A histogram in the making. The index of a bin counts from the start of the text. */
struct bins {
	struct bins_key key;
	struct profile_bins bins;
};

struct building {
	struct filling *filling;
	struct tally *tallies;
	struct bins *list;
	size_t nr;
	size_t room;
	struct hash_index index; /* by key */
};

static bool is_same_key(const struct bins_key *a, const struct bins_key *b)
{
	return a->split == b->split && a->target == b->target && a->object == b->object &&
	       a->shift == b->shift && a->replaced == b->replaced;
}

static uint32_t *find_slot(const struct building *building, const struct bins_key *key)
{
	const uint64_t hash =
		hash_mix(hash_mix(key->split, key->target),
			 (uint64_t)key->object << 32 | key->shift << 2 | key->replaced);

	return HASH_SLOT(&building->index, hash, i, is_same_key(&building->list[i].key, key));
}

/* NULL: out of memory. */
static struct bins *find_bins(struct building *building, const struct bins_key *key)
{
	uint32_t *slot;

	if (HASH_RESERVE(&building->index, building->nr + 1, i, 0, building->nr,
			 find_slot(building, &building->list[i].key)))
		return NULL;
	slot = find_slot(building, key);
	if (!*slot) {
		if (GROW(building->list, building->room, building->nr + 1))
			return NULL;
		building->list[building->nr] = (struct bins){ .key = *key };
		*slot = (uint32_t)++building->nr;
	}
	return &building->list[*slot - 1];
}

/* --- ticks ------------------------------------------------------------------------------------ */

/* The node whose place counts a node's ticks in histograms; NULL: they are outside of all text. */
static const struct store_node *place_of(const struct store *store, const struct store_node *node)
{
	if (!(node->place & SITE_IN_KERNEL))
		return node;
	return node->parent & NODE_IS_ROOT ? NULL : &store->nodes[node->parent - 1];
}

/* Counts ticks whose place or process is less exact than requested. */
static void note_coarse(const struct filling *filling, const struct bins_key *key, uint64_t ticks,
			struct tally *tally)
{
	const struct space *space = &filling->store->texts[key->text].space;
	const bool unknown = filling->names->split != SPLIT_NONE && !key->split;
	const bool merged = space->kind == SPACE_ANON && !space->b;

	if (key->shift > filling->store->bin_shift)
		tally->coarse += ticks;
	if (key->shift > filling->store->bin_shift && key->shift == BIN_SHIFT_MAX)
		tally->widest += ticks;
	if (unknown)
		tally->unknown += ticks;
	else if (merged)
		tally->no_text += ticks;
}

static int add_bin(struct building *building, const struct store_node *place, uint64_t ticks,
		   struct bins_key *key)
{
	struct profile_site site;
	struct bins *bins;

	if (filling_site(building->filling, place, &site))
		return -ENOMEM;
	key->object = site.object;
	key->replaced = site.offset >= JIT_PLACES && site.offset < JIT_PLACES << 1 ?
				1 + (site.offset >= JIT_DOUBTFUL) :
				0;
	bins = find_bins(building, key);
	return bins ? profile_bins_add(&bins->bins, site.offset >> key->shift, ticks) : -ENOMEM;
}

static int add_node(struct building *building, size_t i)
{
	struct filling *filling = building->filling;
	const struct store *store = filling->store;
	const struct store_node *node = &store->nodes[i], *place = place_of(store, node);
	const struct table_root_key *root = &store->roots[filling->roots[i]].key;
	struct tally *tally = &building->tallies[root->target];
	struct bins_key key = { .split = root->split, .target = root->target };

	if (!place) {
		tally->outside += node->count;
		return 0;
	}
	/* These ticks fell before their cgroup was left out. */
	if (filling->left_out[filling->roots[i]]) {
		tally->filtered += node->count;
		tally->left_out += node->count;
		return 0;
	}
	key.shift = place_shift(place->place) ? place_shift(place->place) : store->bin_shift;
	key.text = filling->like[place->text];
	tally->binned += node->count;
	note_coarse(filling, &key, node->count, tally);
	return add_bin(building, place, node->count, &key);
}

static int add_nodes(struct building *building)
{
	const struct filling *filling = building->filling;
	const struct store *store = filling->store;
	size_t i;
	int ret = 0;

	for (i = 0; i < store->nr_roots; i++)
		building->tallies[store->roots[i].key.target].outside += store->roots[i].ticks;
	for (i = 0; !ret && i < store->nr_nodes; i++)
		if (store->nodes[i].count && !store->roots[filling->roots[i]].class)
			ret = add_node(building, i);
	return ret;
}

/* --- histograms ------------------------------------------------------------------------------- */

DEFINE_COMPARE(compare_bins, struct profile_bin, index)

static void add_bins(void *sum, const void *bin)
{
	((struct profile_bin *)sum)->count += ((const struct profile_bin *)bin)->count;
}

/* Joins equal bins, and frees the memory that is left. */
static void join_bins(struct profile_bins *bins)
{
	struct profile_bin *fitting;

	bins->nr = COMBINE(bins->list, bins->nr, compare_bins, add_bins);
	fitting = realloc(bins->list, bins->nr * sizeof(*fitting));
	bins->list = fitting ?: bins->list;
}

/* Converts bins that count from the start of the text to a histogram's text and bins. */
static void place_histogram(const struct profile_object *object, uint32_t shift,
			    struct profile_histogram *histogram)
{
	struct profile_bin *bins = histogram->bins;
	uint64_t first = bins[0].index << shift;
	uint64_t end = (bins[histogram->nr_bins - 1].index + 1) << shift;
	size_t i;

	for (i = 0; i < object->nr_text; i++) {
		const struct profile_text *text = &object->text[i];

		first = text->offset < first ? text->offset : first;
		end = text->offset + text->size > end ? text->offset + text->size : end;
	}
	first = first >> shift << shift;
	for (i = 0; i < histogram->nr_bins; i++)
		bins[i].index -= first >> shift;
	histogram->offset = first;
	histogram->size = end - first;
	histogram->width = sizeof(uint32_t);
	histogram->bytes_per_bin = 1ULL << shift;
	histogram->scale = 131072 >> shift;
}

/* Sets the process, thread or cgroup that a histogram's ticks belong to. */
static int name_split(struct filling *filling, const struct bins_key *key,
		      struct profile_histogram *histogram)
{
	struct seen_names *names = filling->names;
	const struct space *space = &filling->store->texts[key->text].space;
	const struct space_info *info = filling->infos[key->text];

	if (filling_name_split(filling, key->split, &histogram->pid, &histogram->process,
			       &histogram->cgroup))
		return -ENOMEM;
	if (histogram->cgroup)
		names->nr_nameless += !split_names_find(names->splits, key->split);
	/* Anonymous text always belongs to one process, with any split. */
	if (space->kind != SPACE_ANON || !space->b)
		return 0;
	if (histogram->pid < 0)
		histogram->pid = (int64_t)space->b;
	if (histogram->process || !info || histogram->pid != (int64_t)space->b)
		return 0;
	histogram->process = utf8_copy(info->comm);
	return histogram->process ? 0 : -ENOMEM;
}

/* Moves the bins to the profile. */
static int make_histogram(struct building *building, struct bins *bins)
{
	struct filling *filling = building->filling;
	struct profile *profile = filling->profile;
	const size_t i = profile->nr_histograms++;
	struct profile_histogram *histogram = &profile->histograms[i];

	join_bins(&bins->bins);
	histogram->target = bins->key.target;
	histogram->object = bins->key.object;
	histogram->bins = bins->bins.list;
	histogram->nr_bins = bins->bins.nr;
	bins->bins = (struct profile_bins){ 0 };
	filling->names->split_ids[i] = bins->key.split;
	place_histogram(&profile->objects[histogram->object], bins->key.shift, histogram);
	return name_split(filling, &bins->key, histogram);
}

static int make_histograms(struct building *building)
{
	struct profile *profile = building->filling->profile;
	struct seen_names *names = building->filling->names;
	size_t i;
	int ret = 0;

	profile->histograms = calloc(building->nr + 1, sizeof(*profile->histograms));
	names->split_ids = calloc(building->nr + 1, sizeof(*names->split_ids));
	if (!profile->histograms || !names->split_ids)
		return -ENOMEM;
	for (i = 0; !ret && i < building->nr; i++)
		ret = make_histogram(building, &building->list[i]);
	return ret;
}

int filling_bins(struct filling *filling, struct tally *tallies)
{
	struct building building = { .filling = filling, .tallies = tallies };
	size_t i;
	int ret = add_nodes(&building);

	if (!ret)
		ret = make_histograms(&building);
	for (i = 0; i < building.nr; i++)
		free(building.list[i].bins.list);
	free(building.list);
	free(building.index.slots);
	return ret;
}
