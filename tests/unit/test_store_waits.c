// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* From the store to a profile's waits, and the ways to make them smaller. */
#include <stdlib.h>

#include <criterion/criterion.h>

#include "profile/profile.h"
#include "test_store_fixture.h"

enum { STATE = WAIT_VFORK, PLACES = 100 };

#define AT(offset) site_at(TEXT_FILE, offset)

static struct node_waits *half_waits;

static void begin(void)
{
	store_begin();
	half_waits = calloc(HALF_NODES, sizeof(*half_waits));
	cr_assert(half_waits);
	fixture.half.waits = half_waits;
}

static void end(void)
{
	free(half_waits);
	store_end();
}

TestSuite(store_waits, .init = begin, .fini = end);

static uint32_t put_wait(uint32_t parent, uint64_t offset, uint64_t ns, uint64_t runnable_ns)
{
	const uint32_t node = put_place(parent, AT(offset), 0);

	half_waits[node_number(node)] =
		(struct node_waits){ .ns = ns, .runnable_ns = runnable_ns, .count = 1 };
	return node;
}

static uint32_t class_of(uint32_t pid)
{
	return put_place(put_root(0, split_of(pid), END_WAIT), wait_site(STATE, END_COMPLETE), 0);
}

static struct waits_accounts accounts;

static const struct profile_waits *fill(void)
{
	const struct store_fill_request request = { .names = &fixture.names,
						    .tallies = fixture.tallies,
						    .modules = &fixture.modules,
						    .waits = &accounts };
	struct profile *profile = fixture.profile = profile_new();
	struct error err = { 0 };

	cr_assert(profile);
	profile->targets = calloc(1, sizeof(*profile->targets));
	profile->nr_targets = 1;
	spaces_sort(&fixture.spaces);
	split_names_sort(&fixture.splits);
	cr_assert_eq(store_fill(fixture.store, &request, profile, &err), 0);
	cr_assert_eq(profile_waits_check(profile, "filled", &err), 0, "%s", err.text);
	return profile->waits;
}

/* The time in nodes at an offset. */
static uint64_t time_at(const struct profile_callers *tree, uint64_t offset)
{
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < tree->nr_nodes; i++)
		if (tree->sites[tree->nodes[i].site].offset == offset)
			ns += tree->nodes[i].ticks;
	return ns;
}

/* All time below roots of this end, of runnable time or of waits. */
static uint64_t time_below(const struct profile_waits *waits, bool runnable, enum walk_end end)
{
	cleanup_free uint64_t *sums = profile_callers_sums(&waits->tree);
	const uint32_t class = profile_waits_runnable(waits);
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < waits->tree.nr_roots; i++)
		if ((waits->tree.roots[i].class == class) == runnable &&
		    waits->tree.roots[i].end == end)
			ns += sums[i];
	return ns;
}

Test(store_waits, time_of_both_kinds_is_below_its_class)
{
	const uint32_t main = put_wait(class_of(7), 10, 5, 0);
	const struct profile_waits *waits;

	put_wait(main, 20, 100, 30);
	put_wait(main, 20, 1, 2);
	add_half();
	waits = fill();
	cr_expect_eq(waits->nr_classes, 2);
	cr_expect_eq(waits->tree.nr_roots, 2);
	cr_expect_eq(waits->tree.nr_sites, 2);
	cr_expect_eq(waits->tree.nr_nodes, 4);
	cr_expect_eq(time_below(waits, false, END_COMPLETE), 106);
	cr_expect_eq(time_below(waits, true, END_COMPLETE), 32);
	cr_expect_eq(time_at(&waits->tree, 20), 133);
}

Test(store_waits, the_longest_waits_keep_their_places)
{
	const uint32_t class = class_of(7);
	const struct profile_waits *waits;
	uint64_t before, i;

	for (i = 1; i <= PLACES; i++)
		put_wait(put_wait(class, 1000 + i, 0, 0), i, i << 20, 1);
	add_half();
	before = store_waits_bytes(fixture.store);
	cr_assert_eq(store_drop_places(fixture.store, before / 4), 0);
	cr_expect_leq(store_waits_bytes(fixture.store), before / 4);
	waits = fill();
	cr_expect_eq(time_below(waits, false, END_COMPLETE) + time_below(waits, false, END_FULL),
		     (uint64_t)PLACES * (PLACES + 1) / 2 << 20);
	cr_expect_eq(time_below(waits, true, END_COMPLETE) + time_below(waits, true, END_FULL),
		     PLACES);
	cr_expect_gt(time_below(waits, false, END_FULL), 0);
	cr_expect_eq(time_at(&waits->tree, 1), 0, "the shortest kept its place");
	cr_expect_geq(time_at(&waits->tree, PLACES), (uint64_t)PLACES << 20);
	cr_expect_eq(waits->nr_classes, 2);
}

/* The frames between a class and a place have no time of their own, but take the memory. */
Test(store_waits, deep_chains_fit_the_limit)
{
	enum { DEPTH = 20 };
	const uint32_t class = class_of(7);
	uint64_t before, i;
	uint32_t parent, depth;

	for (i = 1; i <= PLACES; i++) {
		for (parent = class, depth = 0; depth < DEPTH; depth++)
			parent = put_place(parent, AT(1000 * i + depth), 0);
		put_wait(parent, i, i << 20, 0);
	}
	add_half();
	before = store_waits_bytes(fixture.store);
	cr_assert_eq(store_drop_places(fixture.store, before / 2), 0);
	cr_expect_leq(store_waits_bytes(fixture.store), before / 2);
	cr_expect_gt(store_waits_bytes(fixture.store), before / 4);
	cr_expect_eq(time_at(&fill()->tree, PLACES), (uint64_t)PLACES << 20);
}

/* Each kind loses its own detail. */
Test(store_waits, ticks_and_waits_share_a_table)
{
	const uint32_t main = put_place(put_root(0, split_of(7), END_COMPLETE), AT(10), 5);
	const struct profile_waits *waits;

	put_place(main, AT(20), 6);
	put_wait(put_wait(class_of(7), 10, 1, 0), 20, 2, 0);
	add_half();
	cr_assert_eq(store_drop_places(fixture.store, 0), 0);
	waits = fill();
	cr_expect_eq(waits->tree.nr_nodes, 0);
	cr_expect_eq(time_below(waits, false, END_FULL), 3);
	cr_expect_eq(fixture.tallies[0].binned, 11);
	fill_profile(true);
	cr_expect_eq(CHAIN(0, 7, END_COMPLETE, 10, 20), 6);
	cr_expect_eq(all_chains(0), 11);
}

Test(store_waits, places_stay_while_there_is_room)
{
	uint64_t before;

	put_wait(put_wait(class_of(7), 10, 1, 0), 20, 2, 0);
	add_half();
	before = store_waits_bytes(fixture.store);
	cr_assert_eq(store_drop_places(fixture.store, before), 0);
	cr_assert_eq(store_drop_places(fixture.store, before + 1), 0);
	cr_expect_eq(time_below(fill(), false, END_FULL), 0);
}

/*
 * The scheduler's runtime is ahead of the time on a CPU. What it has more comes from the runnable
 * time of all places of this account, to the nanosecond.
 */
Test(store_waits, runtime_is_the_schedulers)
{
	struct waits_account list[] = {
		{ .key.split = split_of(7), .on_cpu_ns = 1000, .cpu_ns = 1100 },
		{ .key.split = split_of(8), .on_cpu_ns = 500, .cpu_ns = 400 },
	};
	const uint32_t class = class_of(7);
	const struct profile_waits *waits;
	uint64_t cpu_ns = 0, runnable_ns = 0, wall_ns = 0, stolen_ns = 0;
	size_t i;

	accounts = (struct waits_accounts){ .list = list, .nr = 2 };
	put_wait(class, 10, 50, 200);
	put_wait(class, 20, 50, 101);
	put_wait(class_of(8), 30, 50, 300);
	add_half();
	waits = fill();
	cr_expect_eq(time_at(&waits->tree, 10) + time_at(&waits->tree, 20), 2 * 50 + 301 - 100);
	cr_expect_eq(time_at(&waits->tree, 20) / 2, (50 + 101 - 33) / 2);
	cr_expect_eq(time_at(&waits->tree, 30), 50 + 300);
	for (i = 0; i < waits->nr_accounts; i++) {
		cpu_ns += waits->accounts[i].cpu_ns;
		runnable_ns += waits->accounts[i].runnable_ns;
		stolen_ns += waits->accounts[i].stolen_ns;
		wall_ns += waits->accounts[i].wall_ns;
	}
	cr_expect_eq(cpu_ns, 1100 + 400);
	cr_expect_eq(stolen_ns, 100);
	cr_expect_eq(runnable_ns, 601 - 100);
	cr_expect_eq(wall_ns, 1000 + 500 + 601 + 150);
}

static uint64_t first_split(void *ctx, uint32_t target, uint64_t split)
{
	(void)ctx;
	(void)target;
	return split == split_of(8) ? split_of(7) : 0;
}

Test(store_waits, joined_processes_share_their_places)
{
	const struct profile_waits *waits;

	put_wait(put_wait(class_of(7), 10, 1, 0), 20, 2, 0);
	put_wait(put_wait(class_of(8), 10, 4, 0), 30, 8, 0);
	add_half();
	cr_assert_eq(store_sum_splits(fixture.store, first_split, NULL), 0);
	waits = fill();
	cr_expect_eq(waits->tree.nr_roots, 1);
	cr_expect_eq(waits->tree.roots[0].pid, 7);
	cr_expect_eq(waits->tree.nr_nodes, 3);
	cr_expect_eq(time_at(&waits->tree, 10), 5);
	cr_expect_eq(time_at(&waits->tree, 20), 2);
	cr_expect_eq(time_at(&waits->tree, 30), 8);
}
