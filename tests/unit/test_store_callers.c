// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* From the store to a profile's callers. */
#include <criterion/criterion.h>
#include <string.h>

#include "test_store_fixture.h"

TestSuite(store_callers, .init = store_begin, .fini = store_end);

#define MINE split_of(7)
#define AT(offset) site_at(TEXT_FILE, offset)

static uint32_t root_of(uint64_t split)
{
	return put_root(0, split, END_COMPLETE);
}

Test(store_callers, parents_come_first_wherever_they_are)
{
	const uint32_t main = put_place(root_of(MINE), AT(10), 0),
		       called = put_place(main, AT(20), 5);
	size_t i;

	put_place(called, SITE_IN_KERNEL, 2);
	put_place(called, AT(40), 7);
	put_place(main, AT(50), 0); /* without a tick, here or below */
	add_half();
	fill_profile(true);
	cr_expect_eq(fixture.profile->callers->nr_nodes, 4);
	cr_expect_eq(fixture.profile->callers->nr_sites, 3);
	cr_expect_eq(CHAIN(0, 7, END_COMPLETE, 10), 0);
	cr_expect_eq(CHAIN(0, 7, END_COMPLETE, 10, 20), 5);
	cr_expect_eq(CHAIN(0, 7, END_COMPLETE, 10, 20, SITE_IN_KERNEL), 2);
	cr_expect_eq(CHAIN(0, 7, END_COMPLETE, 10, 20, 40), 7);
	for (i = 0; i < 4; i++)
		cr_expect_lt(fixture.profile->callers->nodes[i].parent, (int32_t)i);
	cr_expect_eq(all_bins(0), 14);
	cr_expect_eq(all_chains(0), 14);
}

/* What hangs above a gap is there twice, if it has ticks of its own, and each leaf once. */
Test(store_callers, leaves_after_a_gap_hang_from_another_root)
{
	const uint32_t root = root_of(MINE), main = put_place(root, AT(10), 0);
	const uint32_t called = put_place(main, AT(20), 5), only = put_place(called, AT(30), 0);

	put_place(called, AT(40) | SITE_AFTER_GAP, 3);
	put_place(called, AT(50) | SITE_AFTER_GAP, 1);
	put_place(put_place(only, AT(40) | SITE_AFTER_GAP, 2), SITE_IN_KERNEL, 11);
	put_place(root, AT(40) | SITE_AFTER_GAP, 9);
	add_half();
	fill_profile(true);
	cr_expect_eq(fixture.profile->callers->nr_nodes, 2 + 3 + 5);
	cr_expect_eq(CHAIN(0, 7, END_COMPLETE, 10, 20), 5);
	cr_expect_eq(CHAIN(0, 7, END_COMPLETE, 10, 20, 40), -1);
	cr_expect_eq(CHAIN(0, 7, END_COMPLETE, 10, 20, 30), -1);
	cr_expect_eq(CHAIN(0, 7, END_FULL, 10, 20), 0);
	cr_expect_eq(CHAIN(0, 7, END_FULL, 10, 20, 40), 3);
	cr_expect_eq(CHAIN(0, 7, END_FULL, 10, 20, 50), 1);
	cr_expect_eq(CHAIN(0, 7, END_FULL, 10, 20, 30, 40), 2);
	cr_expect_eq(CHAIN(0, 7, END_FULL, 10, 20, 30, 40, SITE_IN_KERNEL), 11);
	cr_expect_eq(CHAIN(0, 7, END_FULL, 40), 9);
	cr_expect_eq(bin_at(0, 7, "/0", 40, 1), 25);
	cr_expect_eq(all_chains(0), all_bins(0));
}

/* Two CPUs made the same frame at the same moment, and each hung its own below it. */
Test(store_callers, twins_are_one)
{
	const uint32_t root = root_of(MINE);
	const uint32_t one = put_place(root, AT(10), 3), other = put_place(root, AT(10), 4);

	put_place(one, AT(20), 1);
	put_place(other, AT(20), 1);
	put_place(other, AT(30), 1);
	add_half();
	fill_profile(true);
	cr_expect_eq(fixture.profile->callers->nr_nodes, 3);
	cr_expect_eq(CHAIN(0, 7, END_COMPLETE, 10), 7);
	cr_expect_eq(CHAIN(0, 7, END_COMPLETE, 10, 20), 2);
	cr_expect_eq(CHAIN(0, 7, END_COMPLETE, 10, 30), 1);
}

/* As are frames in two texts that are one object. */
Test(store_callers, frames_of_one_object_are_one)
{
	uint32_t main;

	put_place(put_place(root_of(MINE), AT(10), 1), AT(20), 2);
	fixture.texts[TEXT_FILE + 1] = fixture.texts[TEXT_FILE];
	fixture.texts[TEXT_FILE + 1].space.a++;
	main = put_place(root_of(MINE), site_at(TEXT_FILE + 1, 10), 4);
	put_place(main, AT(20), 8);
	add_half();
	fill_profile(true);
	cr_expect_eq(fixture.profile->callers->nr_nodes, 2);
	cr_expect_eq(fixture.profile->callers->nr_sites, 2);
	cr_expect_eq(CHAIN(0, 7, END_COMPLETE, 10), 5);
	cr_expect_eq(CHAIN(0, 7, END_COMPLETE, 10, 20), 10);
}

/* One that is being made has a site and no parent yet; a damaged table may have a circle. */
Test(store_callers, what_hangs_from_nothing_is_left_out)
{
	struct table_node *nodes = fixture.nodes;

	nodes[1] = (struct table_node){ .site = AT(10), .count = 1 };
	nodes[2] = (struct table_node){ .site = AT(20), .parent = 4, .count = 1 };
	nodes[3] = (struct table_node){ .site = AT(30), .parent = 3, .count = 1 };
	nodes[4] = (struct table_node){ .site = AT(30), .parent = HALF_NODES + 9, .count = 1 };
	nodes[5] = (struct table_node){ .site = AT(30), .parent = NODE_IS_ROOT | 9, .count = 1 };
	nodes[6] = (struct table_node){ .site = AT(30), .parent = NODE_IN_SECOND | 2, .count = 1 };
	nodes[7] = (struct table_node){ .site = AT(40), .parent = root_of(MINE), .count = 1 };
	add_half();
	fill_profile(true);
	cr_expect_eq(fixture.profile->callers->nr_nodes, 1);
	cr_expect_eq(CHAIN(0, 7, END_COMPLETE, 40), 1);
	cr_expect_eq(all_bins(0), 1);
}

/* The longest that the programs make. */
Test(store_callers, a_deep_chain)
{
	uint32_t at = root_of(MINE), i;

	for (i = 0; i < WALK_FRAMES + WALK_KERNEL_FRAMES; i++)
		at = put_place(at, AT(i + 1), 0);
	put_place(at, AT(9), 3);
	add_half();
	fill_profile(true);
	cr_expect_eq(fixture.profile->callers->nr_nodes, WALK_FRAMES + WALK_KERNEL_FRAMES + 1);
	cr_expect_eq(all_chains(0), 3);
}

/* A pid that came again with the same name is one root, and what was not walked is in none. */
/* A file has one character for all bytes that are not UTF-8. */
Test(store_callers, names_that_a_file_cannot_separate)
{
	const char *cgroup;

	fixture.names.split = SPLIT_CGROUP;
	name_split(11, "/a\xff", SPACE_ANNOUNCED);
	name_split(12, "/a\xfe", SPACE_ANNOUNCED);
	put_place(root_of(11), AT(10), 3);
	put_place(root_of(12), AT(10), 4);
	add_half();
	fill_profile(true);
	cr_assert_eq(fixture.profile->callers->nr_roots, 1);
	cgroup = fixture.profile->callers->roots[0].cgroup;
	cr_expect_str_eq(cgroup, "/a\xef\xbf\xbd");
	cr_expect_eq(CHAIN(0, -1, END_COMPLETE, 10), 7);
}

Test(store_callers, roots_are_joined)
{
	const uint64_t again = MINE + (UINT64_C(1) << SPLIT_PID_BITS);
	const struct profile_callers *callers;

	name_split(MINE, "me", SPACE_ANNOUNCED);
	name_split(again, "me", SPACE_ANNOUNCED);
	put_place(root_of(MINE), AT(10), 1);
	put_place(root_of(again), AT(10), 2);
	put_root_ticks(root_of(MINE), 4);
	put_root_ticks(root_of(again), 8);
	put_place(root_of(MINE), AT(20) | SITE_AFTER_GAP, 16);
	put_place(put_root(0, MINE, END_FULL), AT(20), 32);
	put_place(put_root(0, MINE, END_FLAT), AT(30), 64);
	put_root_ticks(put_root(0, MINE, END_FLAT), 128);
	add_half();
	fill_profile(true);
	callers = fixture.profile->callers;
	cr_assert_eq(callers->nr_roots, 2);
	cr_expect_str_eq(callers->roots[0].process, "me");
	cr_expect_eq(CHAIN(0, 7, END_COMPLETE, 10), 3);
	cr_expect_eq(root_ticks(0, 7, END_COMPLETE), 12);
	cr_expect_eq(CHAIN(0, 7, END_FULL, 20), 48);
	cr_expect_eq(all_chains(0), 63);
	cr_expect_eq(bin_at(0, 7, "/0", 30, 1), 64);
	cr_expect_eq(fixture.tallies[0].outside, 140);
}
