/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CALLERS_BPF_H
#define BPFPROFIL_CALLERS_BPF_H

/*
 * Counts chains of callers. A walk that has ended has its frames as sites. From its root, each
 * frame is entered as a node below its caller's, and the last node counts the tick.
 */
#include "nodes.bpf.h"
#include "walk.bpf.h"

/*
 * Enters the walk's i-th frame from the root. True: there is no room, and the walk's parent stays.
 */
__noinline int enter_frame(u32 cpu, u32 i)
{
	struct walk *walk = bpf_map_lookup_elem(&walks, &cpu);
	struct entered_frame *entered;
	u64 site;
	u32 node;

	if (!walk)
		return true;
	site = walk->sites[(walk->nr - 1 - i) & (WALK_FRAMES - 1)];
	entered = &walk->entered[i & (WALK_ENTERED - 1)];
	if (i < walk->nr_entered && entered->site == site) {
		walk->parent = entered->node;
		return false;
	}
	node = child_node(walk->parent, site, walk->owner);
	if (i < WALK_ENTERED) {
		walk->nr_entered = node ? i + 1 : i;
		entered->site = site;
		entered->node = node;
	}
	walk->parent = node ?: walk->parent;
	return !node;
}

/*
 * Begins a chain at the walk's parent. Below another root or in another half, the last chain's
 * nodes are of no use.
 */
static __always_inline void begin_chain(struct walk *walk, u32 generation)
{
	if (walk->entered_root != walk->parent || walk->entered_generation != generation)
		walk->nr_entered = 0;
	walk->entered_root = walk->parent;
	walk->entered_generation = generation;
}

/*
 * Enters the chain of the walk that has just ended, and returns its leaf. NO_NODE: there is no
 * room, and the walk's parent is the node that it reached.
 */
__noinline u32 enter_chain(u32 cpu, u32 target)
{
	struct walk *walk = bpf_map_lookup_elem(&walks, &cpu);
	u32 i, nr, generation = *(volatile u32 *)&table_state.generation;

	if (!walk)
		return 0;
	nr = walk->nr;
	if (walk->owner == NO_OWNER)
		walk->owner = owner_of_current();
	walk->parent = walk->base ?: owned_root(root_parent(target, walk->end), walk->owner);
	begin_chain(walk, generation);
	for (i = 0; i < WALK_FRAMES && i < nr; i++)
		if (enter_frame(cpu, i))
			return NO_NODE;
	return walk->parent;
}

/* How often a leaf is tried further up. At most WALK_ENTERED frames above it are known. */
enum { GAP_TRIES = 6 };

/* The place of the walk's tick. 0: it is outside of all text, or not among the frames. */
static __always_inline u64 leaf_of(const struct walk *walk)
{
	if (walk->sites[0] != SITE_IN_KERNEL)
		return walk->sites[0];
	return walk->nr > 1 ? walk->sites[1] : 0;
}

/*
 * Enters the leaf of a chain below the last node that had room, and marks that frames between them
 * are missing. If there is no room for that either, uses such a node further up that another leaf
 * has left.
 */
__noinline u32 enter_leaf(u32 cpu)
{
	struct walk *walk = bpf_map_lookup_elem(&walks, &cpu);
	u32 i, at, node;
	u64 leaf;

	if (!walk)
		return 0;
	/* The kernel's work for a frame belongs to that frame. */
	leaf = leaf_of(walk);
	if (!leaf)
		return walk->base;
	leaf |= SITE_AFTER_GAP;
	node = child_node(walk->parent, leaf, walk->owner);
	at = walk->nr_entered;
	for (i = 0; i < GAP_TRIES && !node && at > 1; i++) {
		at /= 2;
		node = child_node(walk->entered[(at - 1) & (WALK_ENTERED - 1)].node, leaf,
				  NO_OWNER);
	}
	return node ?: child_node(walk->entered_root, leaf, walk->owner);
}

/* Counts n ticks at the chain of the walk that has just ended, or at its leaf alone. */
__noinline int count_chain(u32 cpu, u32 target, u32 n)
{
	struct walk *walk = bpf_map_lookup_elem(&walks, &cpu);
	u32 node;

	if (!walk)
		return 0;
	if (!walk->nr && !walk->base)
		return count_rootless(target, walk->end, n);
	node = enter_chain(cpu, target) ?: enter_leaf(cpu);
	if (node)
		return add_to_node(node, n);
	if (!leaf_of(walk) && !walk->base)
		return count_rootless(target, END_FULL, n);
	return count_site(target, END_FULL, leaf_of(walk), n);
}

#endif
