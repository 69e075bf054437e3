// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* The store is made smaller, and keeps each tick. */
#include <criterion/criterion.h>
#include <string.h>

#include "test_store_fixture.h"

TestSuite(store_fold, .init = store_begin, .fini = store_end);

#define AT(offset) site_at(TEXT_FILE, offset)

/* Processes below this pid have ended. */
static uint32_t ended_below;

static bool has_ended(void *ctx, uint32_t target, uint64_t split)
{
	(void)ctx;
	(void)target;
	return (uint32_t)split_pid(split) < ended_below;
}

static void fold(uint64_t bytes)
{
	cr_assert_eq(store_fold(fixture.store, bytes, has_ended, NULL), 0);
}

static uint64_t sum_by_name(void *ctx, uint32_t target, uint64_t split)
{
	(void)ctx;
	(void)target;
	return (uint32_t)split_pid(split) < ended_below ? split_sum_id(1) : 0;
}

/* All ticks are there, in any of the ways in which they can be told. */
static void expect_all(uint64_t binned, uint64_t outside, bool callers)
{
	fill_profile(callers);
	cr_expect_eq(fixture.tallies[0].binned, binned);
	cr_expect_eq(fixture.tallies[0].outside, outside);
	cr_expect_eq(all_bins(0), binned);
	if (callers)
		cr_expect_eq(all_chains(0), binned + outside);
}

Test(store_fold, nothing_if_it_is_small)
{
	put_place(put_root(0, split_of(7), END_FLAT), AT(1), 1);
	add_half();
	fold(store_bytes(fixture.store));
	expect_all(1, 0, false);
	cr_expect_eq(bin_at(0, 7, "/0", 1, 1), 1);
}

/* The cold places of those who have ended first, and no more than are needed. */
Test(store_fold, the_coldest_of_the_dead)
{
	const uint32_t dead = put_root(0, split_of(7), END_FLAT);
	const uint32_t alive = put_root(0, split_of(9), END_FLAT);
	uint32_t i;

	for (i = 0; i < 512; i++) {
		put_place(dead, AT(2048 + i), i & 1 ? 3 : 1000);
		put_place(alive, AT(2048 + i), 1);
	}
	add_half();
	ended_below = 9;
	fold(store_bytes(fixture.store) - 100 * 24);
	fill_profile(false);
	cr_expect_eq(all_bins(0), 256 * 1003 + 512);
	cr_expect_eq(bin_at(0, 9, "/0", 2048, 1), 1);
	cr_expect_eq(bin_at(0, 7, "/0", 2048, 1), 1000);
	cr_expect_eq(fixture.tallies[0].coarse, bin_at(0, 7, "/0", 2048, 1024));
	cr_expect_geq(fixture.tallies[0].coarse, 20 * 3);
	cr_expect_lt(fixture.tallies[0].coarse, 200 * 3);
	cr_expect_eq(fixture.tallies[0].coarse % 3, 0);
	cr_expect_eq(fixture.tallies[0].widest + fixture.tallies[0].unknown, 0);
}

/* Then of those who live; then bins are the widest; then it is not known whose they are. */
Test(store_fold, step_by_step)
{
	const uint64_t all = 256 * 5 * 2 + 3;
	uint32_t i;

	name_split(split_of(9), "alive", SPACE_ANNOUNCED);
	for (i = 0; i < 256; i++) {
		put_place(put_root(0, split_of(7), END_FLAT), AT(i * 4096 + 5), 5);
		put_place(put_root(0, split_of(9), END_FLAT), AT(i * 16 + 5), 5);
	}
	put_place(put_root(0, split_of(9), END_FLAT), site_at(TEXT_JIT, 0x5555), 3);
	add_half();
	ended_below = 9;
	fold(9300);
	expect_all(all, 0, false);
	cr_expect_eq(bin_at(0, 7, "/0", 0x30000, 65536), 16 * 5);
	cr_expect_eq(bin_at(0, 9, "/0", 5, 1), 5);
	cr_expect_eq(fixture.tallies[0].widest, 256 * 5);
	fold(1420);
	expect_all(all, 0, false);
	cr_expect_eq(bin_at(0, 9, "/0", 1024, 1024), 64 * 5);
	cr_expect_eq(bin_at(0, 9, "[node:77]", 0x5400, 1024), 3);
	fold(1340);
	expect_all(all, 0, false);
	cr_expect_eq(fixture.tallies[0].widest, all);
	cr_expect_eq(fixture.tallies[0].coarse, all);
	fold(0);
	expect_all(all, 0, false);
	cr_expect_eq(fixture.tallies[0].unknown, all);
	cr_expect_eq(bin_at(0, -1, "/0", 0, 65536), 16 * 5 + 256 * 5);
	cr_expect_eq(bin_at(0, -1, "[anon]", 0, 65536), 3);
}

static int64_t ticks_or_0(int64_t ticks)
{
	return ticks < 0 ? 0 : ticks;
}

/* Before places are added up, chains are dropped, and the places stay as they were. */
Test(store_fold, chains_go_first)
{
	const uint32_t root = put_root(0, split_of(7), END_COMPLETE);
	const uint32_t main = put_place(root, AT(10), 0), hot = put_place(main, AT(20), 1 << 20);
	uint32_t at, i, all_gone = 0, with_callers = 0;

	for (i = 0; i < 64; i++) {
		at = put_place(put_place(main, AT(100 + i), 1), AT(200 + i), 1);
		put_place(at, SITE_IN_KERNEL, 2);
		put_place(hot, AT(300 + i), 1 << 20);
	}
	put_place(root, SITE_IN_KERNEL, 5);
	put_root_ticks(root, 6);
	add_half();
	fold(8000);
	expect_all((65 << 20) + 64 * 4, 11, true);
	cr_expect_eq(fixture.tallies[0].coarse, 0);
	cr_expect_eq(bin_at(0, 7, "/0", 200, 1), 3);
	cr_expect_eq(bin_at(0, 7, "/0", 100, 1), 1);
	for (i = 0; i < 64; i++) {
		/* Below what is left of the chain, or, where the list had no room to copy that, below the root. */
		const int64_t below = ticks_or_0(CHAIN(0, 7, END_FULL, 10, 200 + i));
		const int64_t alone = ticks_or_0(CHAIN(0, 7, END_FULL, 200 + i));
		const int64_t whole =
			ticks_or_0(CHAIN(0, 7, END_COMPLETE, 10, 100 + i, 200 + i)) +
			ticks_or_0(CHAIN(0, 7, END_COMPLETE, 10, 100 + i, 200 + i, SITE_IN_KERNEL));

		cr_expect_eq(below + alone + whole, 3);
		with_callers += below > 0;
		all_gone += !whole;
	}
	cr_expect_gt(all_gone, 20);
	cr_expect_gt(with_callers, 20);
	cr_expect_eq(CHAIN(0, 7, END_COMPLETE, 10, 20), 1 << 20);
	cr_expect_eq(CHAIN(0, 7, END_COMPLETE, 10, 20, 300), 1 << 20);
	cr_expect_eq(CHAIN(0, 7, END_COMPLETE, SITE_IN_KERNEL), 5);
	fold(0);
	expect_all((65 << 20) + 64 * 4, 11, true);
	cr_expect_eq(root_ticks(0, -1, END_FULL), (65 << 20) + 64 * 4);
	cr_expect_eq(root_ticks(0, -1, END_COMPLETE), 6);
	cr_expect_eq(fixture.profile->callers->nr_nodes, 1);
}

/* Bins that were asked for as wide as that do not get wider, but chains go. */
Test(store_fold, the_widest_bins_stay)
{
	store_free(fixture.store);
	fixture.store = store_new(BIN_SHIFT_MAX);
	put_place(put_place(put_root(0, split_of(7), END_COMPLETE), AT(0x12345), 1), AT(0x12346),
		  2);
	add_half();
	fold(0);
	expect_all(3, 0, true);
	cr_expect_eq(fixture.tallies[0].coarse, 0);
	cr_expect_eq(bin_at(0, -1, "/0", 0x10000, 65536), 3);
}

Test(store_fold, splits_of_one_name)
{
	uint64_t before;
	uint32_t i;

	ended_below = 50;
	for (i = 1; i < 60; i++) {
		put_place(put_place(put_root(0, split_of(i), END_COMPLETE), AT(10), 1), AT(20), 2);
		put_place(put_root(0, split_of(i), END_FULL), AT(i << 16) | SITE_COARSE, 4);
		put_root_ticks(put_root(0, split_of(i), END_LATE), 8);
	}
	put_place(put_root(0, 0, END_COMPLETE), AT(10), 1);
	add_half();
	before = store_bytes(fixture.store);
	cr_assert_eq(store_sum_splits(fixture.store, sum_by_name, NULL), 0);
	cr_expect_lt(store_bytes(fixture.store), before);
	name_split(split_sum_id(1), "cc1", SPACE_ANNOUNCED);
	expect_all(59 * 7 + 1, 59 * 8, true);
	cr_expect_eq(CHAIN(0, 51, END_COMPLETE, 10, 20), 2);
	cr_expect_eq(bin_at(0, 51, "/0", 20, 1), 2);
	cr_expect_eq(bin_at(0, -1, "/0", 20, 1), 49 * 2);
	cr_expect_eq(bin_at(0, -1, "/0", 3 << 16, 65536), 4);
	cr_expect_eq(fixture.tallies[0].unknown, 1);
	/* They go on. */
	put_place(put_place(put_root(0, split_of(50), END_COMPLETE), AT(10), 1), AT(20), 2);
	add_half();
	expect_all(60 * 7 - 3, 59 * 8, true);
}

/* What was folded is as if it had been counted so, so it can be added to and folded again. */
Test(store_fold, again_and_again)
{
	uint64_t ticks = 0, bytes;
	uint32_t round, i;

	ended_below = 3;
	for (round = 0; round < 40; round++) {
		for (i = 0; i < 500; i++) {
			const uint32_t root =
				put_root(0, split_of(1 + i % 5), i % 3 ? END_COMPLETE : END_LATE);
			const uint32_t main = put_place(root, AT(i % 7), i % 2);

			put_place(put_place(main, AT((i * 7919 + round * 104729) % (1 << 22)),
					    1 + i % 9),
				  SITE_IN_KERNEL, i % 4);
			ticks += i % 2 + 1 + i % 9 + i % 4;
		}
		add_half();
		bytes = store_bytes(fixture.store);
		fold(100 * 1024);
		cr_expect_leq(store_bytes(fixture.store), 100 * 1024);
		cr_expect_leq(store_bytes(fixture.store), bytes);
		expect_all(ticks, 0, true);
	}
	cr_expect_gt(fixture.tallies[0].coarse, 0);
	cr_expect_eq(fixture.tallies[0].unknown, 0);
}

/* Whoever has more places than others loses detail first, however cold the others' are, and be they of the dead. */
Test(store_fold, not_those_who_have_few)
{
	const uint32_t greedy = owned_root(put_root(0, split_of(9), END_COMPLETE), OWNER_FIRST + 1);
	const uint32_t modest = owned_root(put_root(0, split_of(7), END_COMPLETE), OWNER_FIRST);
	uint32_t i, folded = 0;

	for (i = 0; i < 1024; i++)
		put_place(put_place(greedy, AT(65536 + i), 0), AT(1 << 20 | i), 100);
	for (i = 0; i < 64; i++)
		put_place(put_place(modest, AT(10 + i), 0), AT(200 + i), 1);
	add_half();
	ended_below = 9;
	fold(store_bytes(fixture.store) / 3 * 2);
	expect_all(1024 * 100 + 64, 0, true);
	for (i = 0; i < 1024; i++)
		folded += CHAIN(0, 9, END_FULL, 1 << 20 | i) == 100;
	cr_expect_gt(folded, 256);
	cr_expect_lt(folded, 1024);
	for (i = 0; i < 64; i++)
		cr_expect_eq(CHAIN(0, 7, END_COMPLETE, 10 + i, 200 + i), 1, "%u", i);
	/* In the profile it does not show whose they are. */
	cr_expect_eq(bin_at(0, 7, "/0", 200, 1), 1);
	fold(0);
	expect_all(1024 * 100 + 64, 0, true);
	cr_expect_eq(fixture.tallies[0].unknown, 1024 * 100 + 64);
}

/* Many processes with few places each lose their names, but not those of an owner who has few places in all. */
Test(store_fold, splits_of_those_who_have_few)
{
	uint32_t i, j, root;

	for (i = 0; i < 1024; i++) {
		root = put_root(0, split_of(100 + i), END_COMPLETE);
		for (j = 1; j <= 4; j++)
			put_place(owned_root(root, OWNER_FIRST + 1), AT(j << 20), 10);
		if (i % 8 == 7)
			add_half();
	}
	root = put_root(0, split_of(7), END_COMPLETE);
	for (i = 0; i < 64; i++)
		put_place(owned_root(root, OWNER_FIRST), AT(200 + i), 1);
	add_half();
	fold(store_bytes(fixture.store) / 2);
	expect_all(4 * 1024 * 10 + 64, 0, true);
	cr_expect_eq(bin_at(0, 100, "/0", 1 << 20, 1), 0);
	cr_expect_eq(bin_at(0, 7, "/0", 200, 1), 1);
}

/* Chains of two owners that look alike are one in the profile. */
Test(store_fold, owners_do_not_show)
{
	const uint32_t root = put_root(0, split_of(7), END_COMPLETE);

	put_place(put_place(root, AT(10), 1), AT(20), 2);
	put_place(put_place(owned_root(root, OWNER_FIRST), AT(10), 4), AT(20), 8);
	put_root_ticks(root, 16);
	add_half();
	expect_all(15, 16, true);
	cr_expect_eq(CHAIN(0, 7, END_COMPLETE, 10), 5);
	cr_expect_eq(CHAIN(0, 7, END_COMPLETE, 10, 20), 10);
}
