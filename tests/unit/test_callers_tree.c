// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* From the programs' tree of callers to a profile's, with this test in place of the programs. */
#include <stdlib.h>

#include <criterion/criterion.h>

#include "host/engine/callers_tree.h"

enum { NODES = 64, DROPPED_SITE = 99, ROOTS = 3 };

static struct caller_node nodes[NODES];
static struct caller_tree tree;
static struct profile_callers made;

static void begin(void)
{
	tree = (struct caller_tree){ .nodes = nodes, .nr_nodes = NODES, .nr_roots = ROOTS };
	tree.roots = calloc(ROOTS, sizeof(*tree.roots));
	cr_assert(tree.roots);
	cr_assert_eq(tree_begin(&tree), 0);
	tree.roots[0].key.target = 0;
	tree.roots[1].key.target = 1;
	tree.roots[2].key.target = 1;
}

static void end(void)
{
	tree_free(&tree);
	free(made.sites);
	free(made.nodes);
}

TestSuite(callers_tree, .init = begin, .fini = end);

/* An element; parent as in the element, which is another's number + 1 or a root. */
static uint32_t put(uint32_t number, uint32_t parent, uint64_t site, uint32_t count)
{
	nodes[number] = (struct caller_node){ .site = site, .parent = parent, .count = count };
	return number + 1;
}

/* A site is its offset, in object 7. */
static bool site_of(void *context, uint64_t site, struct profile_site *result)
{
	(void)context;
	*result = (struct profile_site){ .object = 7, .offset = site };
	return site != DROPPED_SITE;
}

static void build(void)
{
	const uint32_t roots[ROOTS] = { 4, UINT32_MAX, 5 };
	const uint32_t gap_roots[ROOTS] = { 6, UINT32_MAX, 7 };

	tree_read(&tree, true);
	cr_assert_eq(tree_build(&tree, site_of, NULL, roots, gap_roots, &made), 0);
}

/* The node at the end of a path of sites from a profile's root; -1: there is none. */
static int64_t find(int32_t root, size_t nr, const uint64_t *sites)
{
	int64_t at = -1 - root;
	size_t i, n;

	for (n = 0; n < nr; n++) {
		for (i = 0; i < made.nr_nodes; i++) {
			uint32_t site = made.nodes[i].site;
			uint64_t offset = site == PROFILE_SITE_KERNEL ? SITE_IN_KERNEL :
									made.sites[site].offset;

			if (made.nodes[i].parent == at && offset == sites[n])
				break;
		}
		if (i == made.nr_nodes)
			return -1;
		at = (int64_t)i;
	}
	return at;
}

#define FIND(root, ...)                                                                            \
	find(root, sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t),                         \
	     (const uint64_t[]){ __VA_ARGS__ })

static uint64_t ticks_of(uint32_t target)
{
	uint64_t sums[2] = { 0 };

	tree_sum(&tree, sums, 2);
	return sums[target];
}

static void give_back(uint32_t target, uint64_t ticks, bool back)
{
	uint64_t surplus[2] = { 0 };

	surplus[target] = ticks;
	tree_give_back(&tree, surplus, 2, back);
	cr_expect_eq(surplus[target], 0);
}

Test(callers_tree, parents_come_first_wherever_they_are)
{
	uint32_t main = put(60, NODE_IS_ROOT | 0, 10, 0);
	uint32_t called = put(3, main, 20, 5);

	put(30, called, SITE_IN_KERNEL, 2);
	put(31, called, 40, 7);
	build();
	cr_expect_eq(made.nr_nodes, 4);
	cr_expect_eq(made.nr_sites, 3);
	cr_expect_eq(made.nodes[FIND(4, 10)].ticks, 0);
	cr_expect_eq(made.nodes[FIND(4, 10, 20)].ticks, 5);
	cr_expect_eq(made.nodes[FIND(4, 10, 20, SITE_IN_KERNEL)].ticks, 2);
	cr_expect_eq(made.nodes[FIND(4, 10, 20, 40)].ticks, 7);
	cr_expect_eq(nodes[31].count, 0, "it was taken");
}

/* What hangs above a gap is there twice, if it has ticks of its own, and each leaf once. */
Test(callers_tree, leaves_after_a_gap_hang_from_another_root)
{
	uint32_t main = put(60, NODE_IS_ROOT | 0, 10, 0);
	uint32_t called = put(3, main, 20, 5), only = put(4, called, 30, 0);

	put(5, called, 40 | SITE_AFTER_GAP, 3);
	put(6, called, 50 | SITE_AFTER_GAP, 1);
	put(7, only, 40 | SITE_AFTER_GAP, 2);
	put(8, NODE_IS_ROOT | 0, 40 | SITE_AFTER_GAP, 9);
	put(9, NODE_IS_ROOT | 1, 40 | SITE_AFTER_GAP, 9);
	put(11, only, DROPPED_SITE | SITE_AFTER_GAP, 9);
	build();
	cr_expect_eq(made.nr_nodes, 2 + 3 + 4);
	cr_expect_eq(made.nodes[FIND(4, 10, 20)].ticks, 5);
	cr_expect_eq(FIND(4, 10, 20, 40), -1);
	cr_expect_eq(FIND(4, 10, 20, 30), -1);
	cr_expect_eq(made.nodes[FIND(6, 10, 20)].ticks, 0);
	cr_expect_eq(made.nodes[FIND(6, 10, 20, 40)].ticks, 3);
	cr_expect_eq(made.nodes[FIND(6, 10, 20, 50)].ticks, 1);
	cr_expect_eq(made.nodes[FIND(6, 10, 20, 30, 40)].ticks, 2);
	cr_expect_eq(made.nodes[FIND(6, 40)].ticks, 9);
}

/* Two CPUs made the same frame at the same moment, and each hung its own below it. */
Test(callers_tree, twins_are_one)
{
	uint32_t one = put(1, NODE_IS_ROOT | 0, 10, 3), other = put(2, NODE_IS_ROOT | 0, 10, 4);

	put(3, one, 20, 1);
	put(4, other, 20, 1);
	put(5, other, 30, 1);
	build();
	cr_expect_eq(made.nr_nodes, 3);
	cr_expect_eq(made.nodes[FIND(4, 10)].ticks, 7);
	cr_expect_eq(made.nodes[FIND(4, 10, 20)].ticks, 2);
	cr_expect_eq(made.nodes[FIND(4, 10, 30)].ticks, 1);
}

Test(callers_tree, what_is_left_out_has_nothing_below_it)
{
	uint32_t gone = put(1, NODE_IS_ROOT | 0, DROPPED_SITE, 1);

	put(2, gone, 20, 1);
	put(3, NODE_IS_ROOT | 1, 10, 1); /* a root that the profile has not */
	put(4, NODE_IS_ROOT | 2, 10, 9);
	put(5, NODE_IS_ROOT | 2, 11, 0); /* without a tick, here or below */
	build();
	cr_expect_eq(made.nr_nodes, 1);
	cr_expect_eq(made.nodes[FIND(5, 10)].ticks, 9);
}

/* One that is being made has a site and no parent yet; a damaged tree may have a circle. */
Test(callers_tree, what_hangs_from_nothing_is_left_out)
{
	put(1, 0, 10, 1);
	put(2, 4, 20, 1);
	put(3, 3, 30, 1);
	put(4, NODES + 9, 30, 1);
	put(5, NODE_IS_ROOT | ROOTS, 30, 1);
	tree_read(&tree, true);
	cr_expect_eq(tree_root_of(&tree, 1), ROOTS);
	cr_expect_eq(tree_root_of(&tree, 2), ROOTS);
	cr_expect_eq(ticks_of(0) + ticks_of(1), 0);
	build();
	cr_expect_eq(made.nr_nodes, 0);
}

Test(callers_tree, ticks_of_a_target_are_given_back)
{
	tree.roots[2].ticks = 4;
	put(1, NODE_IS_ROOT | 1, 10, 3);
	put(2, NODE_IS_ROOT | 2, 10, 5);
	put(3, NODE_IS_ROOT | 0, 10, 100);
	tree_read(&tree, true);
	cr_expect_eq(ticks_of(1), 12);
	give_back(1, 6, true);
	cr_expect_eq(nodes[1].count + nodes[2].count, 6, "the kernel's tree has them again");
	cr_expect_eq(ticks_of(1), 6);
	cr_expect_eq(nodes[3].count, 0, "another target's stay");
	/* Beyond what nodes have, a root's. */
	give_back(1, 4, true);
	cr_expect_eq(nodes[1].count + nodes[2].count, 8);
	cr_expect_eq(tree.roots[2].ticks, 2);
	tree_read(&tree, true);
	cr_expect_eq(ticks_of(1), 10);
	/* What is only looked at stays there. */
	put(4, NODE_IS_ROOT | 0, 50, 8);
	tree_read(&tree, false);
	cr_expect_eq(nodes[4].count, 8);
	give_back(0, 8, false);
	cr_expect_eq(nodes[4].count, 8);
}

/* Of two trees the one that is entered no more keeps nothing, so that it can be emptied. */
Test(callers_tree, ticks_are_given_back_where_they_may_fall)
{
	tree.first = NODES / 2;
	put(1, NODE_IS_ROOT | 0, 10, 5);
	put(NODES / 2, NODE_IS_ROOT | 0, 10, 5);
	tree_read(&tree, true);
	give_back(0, 4, true);
	cr_expect_eq(nodes[1].count, 0);
	cr_expect_eq(nodes[NODES / 2].count, 4);
}
