// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* Random elements in several halves, compared with sums of this test's own. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "test_store_fixture.h"

enum {
	HALVES = 4,
	ELEMENTS = 1 << 18 /* of all halves a million */,
	FOLDED = 1 << 16,
	PROCESSES = 40,
	OFFSETS = 1 << 18,
	DEPTH = 24
};

TestSuite(store_oracle, .init = store_begin, .fini = store_end);

/* Ticks of one place, or of one chain. */
struct sum {
	uint64_t key[3];
	uint64_t ticks;
};

struct sums {
	struct sum *list;
	size_t nr;
	size_t room;
};

static int compare_sums(const void *left, const void *right)
{
	return memcmp(left, right, sizeof(((struct sum *)left)->key));
}

static void sum_up(struct sums *sums)
{
	size_t from, to = 0;

	SORT(sums->list, sums->nr, compare_sums);
	for (from = 0; from < sums->nr; from++) {
		if (to && !compare_sums(&sums->list[to - 1], &sums->list[from]))
			sums->list[to - 1].ticks += sums->list[from].ticks;
		else
			sums->list[to++] = sums->list[from];
	}
	sums->nr = to;
}

static void note(struct sums *sums, uint64_t a, uint64_t b, uint64_t c, uint64_t ticks)
{
	cr_assert_eq(GROW(sums->list, sums->room, sums->nr + 1), 0);
	sums->list[sums->nr++] = (struct sum){ .key = { a, b, c }, .ticks = ticks };
}

static void expect_same(struct sums *a, struct sums *b)
{
	sum_up(a);
	sum_up(b);
	cr_assert_eq(a->nr, b->nr, "%zu and %zu", a->nr, b->nr);
	cr_expect_eq(memcmp(a->list, b->list, a->nr * sizeof(*a->list)), 0);
	free(a->list);
	free(b->list);
	*a = *b = (struct sums){ 0 };
}

/* --- what was put in ----------------------------------------------------------------------------- */

/* An element, with hashes of its chain and of that chain with a gap. */
struct element {
	uint32_t parent; /* as a parent of others */
	uint32_t text;
	uint64_t offset;
	uint64_t target;
	uint64_t split;
	uint64_t chains[2];
	uint32_t depth;
	bool after_gap;
};

static uint64_t state = 88172645463325252ULL;

static uint32_t chance(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)((state >> 16) % below);
}

static uint64_t hash_of(uint64_t above, uint64_t a, uint64_t b)
{
	const uint64_t both[] = { a, b };

	return hash_bytes(above, both, sizeof(both));
}

static uint64_t hash_root(uint64_t target, uint64_t pid, uint64_t end)
{
	return hash_of(hash_of(HASH_BEGIN, target, pid), end, 0);
}

static struct sums places, chains;
static struct element *elements;
static uint64_t outside[TARGETS];

static struct element root_by_chance(void)
{
	const uint32_t target = chance(TARGETS), pid = 1 + chance(PROCESSES);
	const uint32_t end = chance(4) ? END_COMPLETE : chance(2) ? END_LATE : END_FULL;
	struct element root = { .target = target, .split = split_of(pid) };

	root.parent = put_root(target, root.split, end);
	root.chains[0] = hash_root(target, pid, end);
	root.chains[1] = hash_root(target, pid, END_FULL);
	if (!chance(1000)) {
		put_root_ticks(root.parent, 7);
		note(&chains, root.chains[0], 0, 0, 7);
		outside[target] += 7;
	}
	return root;
}

/* The kernel at work for an element, or for nothing that is text. */
static void add_kernel(const struct element *above, struct table_node *node)
{
	node->site = SITE_IN_KERNEL;
	node->parent = above->parent;
	node->count = 1 + chance(3);
	note(&chains, hash_of(above->chains[above->after_gap], UINT64_MAX, 0), 0, 0, node->count);
	if (above->parent & NODE_IS_ROOT)
		outside[above->target] += node->count;
	else
		note(&places, above->target, above->split,
		     (uint64_t)above->text << 48 | above->offset, node->count);
}

static void add_frame(const struct element *above, struct table_node *node, struct element *result)
{
	const bool gap = !chance(16);
	const uint32_t text = TEXT_FILE + chance(FILES);
	const uint64_t offset = chance(64) ? chance(200) * 64 : chance(OFFSETS) * 16;

	*result = *above;
	result->text = text;
	result->offset = offset;
	result->depth++;
	result->after_gap |= gap;
	result->chains[0] = hash_of(above->chains[0], text, offset);
	result->chains[1] = hash_of(above->chains[1], text, offset);
	node->site = site_at(text, offset) | (gap ? SITE_AFTER_GAP : 0);
	node->parent = above->parent;
	node->count = chance(2) ? chance(6) : 0;
	if (!node->count)
		return;
	note(&chains, result->chains[result->after_gap], 0, 0, node->count);
	note(&places, result->target, result->split, (uint64_t)text << 48 | offset, node->count);
}

/* Elements are anywhere, so that those above are before or behind those below. */
static void fill_half(struct table_node *nodes, uint32_t nr_nodes, uint32_t half)
{
	uint32_t i, at, nr = 0;

	memset(nodes, 0, nr_nodes * sizeof(*nodes));
	for (i = 0; i < nr_nodes; i++) {
		struct element above;

		at = i * 40503U % nr_nodes;
		above = nr && chance(8) ? elements[chance(nr)] : root_by_chance();
		if (above.depth >= DEPTH)
			above = root_by_chance();
		if (!chance(8)) {
			add_kernel(&above, &nodes[at]);
			continue;
		}
		add_frame(&above, &nodes[at], &elements[nr]);
		elements[nr++].parent = (at | (half ? NODE_IN_SECOND : 0)) + 1;
	}
}

static void add_halves(uint32_t nr_nodes, void (*after)(void))
{
	struct table_node *nodes = calloc(nr_nodes, sizeof(*nodes));
	uint32_t i;

	elements = calloc(nr_nodes, sizeof(*elements));
	cr_assert(nodes && elements);
	for (i = 0; i < HALVES; i++) {
		fixture.half.nodes = nodes;
		fixture.half.nr_nodes = nr_nodes;
		fill_half(nodes, nr_nodes, fixture.half.half);
		add_half();
		if (after)
			after();
	}
	free(nodes);
	free(elements);
}

/* --- what came out ------------------------------------------------------------------------------- */

static uint32_t text_of(uint32_t object)
{
	return TEXT_FILE + (uint32_t)atoi(fixture.profile->objects[object].path + 1);
}

/* The ticks of all bins, by this shift. */
static void read_places(struct sums *result, uint32_t shift, bool by_split)
{
	const struct profile *profile = fixture.profile;
	size_t i, n;

	for (i = 0; i < profile->nr_histograms; i++) {
		const struct profile_histogram *histogram = &profile->histograms[i];

		for (n = 0; n < histogram->nr_bins; n++)
			note(result, histogram->target,
			     by_split ? split_of((uint32_t)histogram->pid) : 0,
			     (uint64_t)text_of(histogram->object) << 48 |
				     profile_bin_start(histogram, n) >> shift << shift,
			     histogram->bins[n].count);
	}
}

static void read_chains(struct sums *result)
{
	const struct profile_callers *callers = fixture.profile->callers;
	uint64_t *hashes = calloc(callers->nr_nodes + 1, sizeof(*hashes));
	size_t i;

	cr_assert(hashes);
	for (i = 0; i < callers->nr_nodes; i++) {
		const struct profile_node *node = &callers->nodes[i];
		const struct profile_site *site = &callers->sites[node->site];
		uint64_t above;

		if (node->parent < 0) {
			const struct profile_root *root = &callers->roots[-1 - node->parent];

			above = hash_root(root->target, (uint64_t)root->pid, root->end);
		} else {
			above = hashes[node->parent];
		}
		if (node->site == PROFILE_SITE_KERNEL)
			hashes[i] = hash_of(above, UINT64_MAX, 0);
		else
			hashes[i] = hash_of(above, text_of(site->object), site->offset);
		if (node->ticks)
			note(result, hashes[i], 0, 0, node->ticks);
	}
	for (i = 0; i < callers->nr_roots; i++)
		if (callers->roots[i].ticks)
			note(result,
			     hash_root(callers->roots[i].target, (uint64_t)callers->roots[i].pid,
				       callers->roots[i].end),
			     0, 0, callers->roots[i].ticks);
	free(hashes);
}

Test(store_oracle, a_million_elements)
{
	struct sums got = { 0 };
	uint32_t i;

	add_halves(ELEMENTS, NULL);
	fill_profile(true);
	read_places(&got, 0, true);
	expect_same(&got, &places);
	read_chains(&got);
	expect_same(&got, &chains);
	for (i = 0; i < TARGETS; i++) {
		cr_expect_eq(fixture.tallies[i].outside, outside[i]);
		cr_expect_eq(fixture.tallies[i].binned, all_bins(i));
		cr_expect_eq(fixture.tallies[i].coarse, 0);
		cr_expect_eq(all_chains(i), all_bins(i) + outside[i]);
	}
}

static bool has_ended(void *ctx, uint32_t target, uint64_t split)
{
	(void)ctx;
	return target || split_pid(split) % 2;
}

static uint64_t fold_bytes;

static void fold_all(void)
{
	cr_assert_eq(store_fold(fixture.store, fold_bytes, has_ended, NULL), 0);
	cr_expect_leq(store_bytes(fixture.store), fold_bytes);
}

static void widen(struct sums *sums, bool by_split)
{
	size_t i;

	for (i = 0; i < sums->nr; i++) {
		sums->list[i].key[1] = by_split ? sums->list[i].key[1] : 0;
		sums->list[i].key[2] = sums->list[i].key[2] >> 16 << 16;
	}
}

/* However often it is folded, each tick stays in its 64 KiB and its process. */
Test(store_oracle, in_little_memory)
{
	struct sums got = { 0 };
	uint32_t i;

	fold_bytes = 512 << 10;
	add_halves(FOLDED, fold_all);
	fill_profile(true);
	read_places(&got, 16, true);
	widen(&places, true);
	expect_same(&got, &places);
	for (i = 0; i < TARGETS; i++) {
		cr_expect_eq(fixture.tallies[i].outside, outside[i]);
		cr_expect_eq(all_chains(i), all_bins(i) + outside[i]);
		cr_expect_gt(fixture.tallies[i].coarse, 0);
		cr_expect_eq(fixture.tallies[i].unknown, 0);
	}
	free(chains.list);
}

/* In next to none, in its 64 KiB of its target. */
Test(store_oracle, in_next_to_no_memory)
{
	struct sums got = { 0 };
	uint32_t i;

	fold_bytes = 128 << 10;
	add_halves(FOLDED, fold_all);
	fill_profile(true);
	read_places(&got, 16, false);
	widen(&places, false);
	expect_same(&got, &places);
	for (i = 0; i < TARGETS; i++) {
		cr_expect_eq(fixture.tallies[i].outside, outside[i]);
		cr_expect_eq(all_chains(i), all_bins(i) + outside[i]);
		cr_expect_gt(fixture.tallies[i].unknown, 0);
	}
	free(chains.list);
}
