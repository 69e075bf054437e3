/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CALLERS_BPF_H
#define BPFPROFIL_CALLERS_BPF_H

/*
 * The tree in which chains of callers are counted. A tick walks down it from its root, by one element
 * for each frame, and is one atomic add at the last. Elements are claimed by compare-and-swap and none is
 * freed by itself, so nothing is locked. Two CPUs that enter the same new frame at the same moment may make
 * two elements of it; who reads them adds them up. Where profiles are taken again and again there are two
 * trees in the map, one after the other: user space empties the one that no chain is entered into any more,
 * and its roots with it.
 */
#include "count.bpf.h"
#include "split.bpf.h"
#include "walk.bpf.h"

/* A tree has a power of two, so that a hash finds its element by a mask. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct caller_node);
} nodes SEC(".maps");

const volatile __u32 node_mask = 0;
const volatile __u32 max_roots = 0;

/* Those of split 0 are there from the start, so that there is one for each tick. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct caller_root_key);
	__type(value, struct caller_root);
} caller_roots SEC(".maps");

static __always_inline struct caller_root *find_root(u32 target, u32 end)
{
	u32 tree = *(volatile u32 *)&callers_state.generation & 1;
	struct caller_root_key key = { .split = split_id(),
				       .target = target,
				       .end = end,
				       .tree = tree };
	struct caller_root *root = bpf_map_lookup_elem(&caller_roots, &key), fresh = {};

	if (root)
		return root;
	/* Numbers are as few as roots, but for those that two CPUs took for one root. */
	if (callers_state.next_root[tree] < max_roots) {
		fresh.number = 2 * __sync_fetch_and_add(&callers_state.next_root[tree], 1) + tree;
		bpf_map_update_elem(&caller_roots, &key, &fresh, BPF_NOEXIST);
		root = bpf_map_lookup_elem(&caller_roots, &key);
		if (root)
			return root;
	}
	key.split = 0;
	return bpf_map_lookup_elem(&caller_roots, &key);
}

/* The number of the root for ticks of a target whose walks ended so; none: UINT32_MAX. */
__noinline u32 root_number(u32 target, u32 end)
{
	struct caller_root *root = find_root(target, end);

	return root ? root->number : 0xffffffff;
}

/* Counts n ticks that have no frame at all. */
__noinline int count_rootless(u32 target, u32 end, u32 n)
{
	struct caller_root *root = find_root(target, end);

	if (root)
		__sync_fetch_and_add(&root->ticks, n);
	return 0;
}

static __always_inline u32 node_hash(u64 site, u32 parent)
{
	u64 hash = (site ^ (u64)parent << 29) * 0x9e3779b97f4a7c15ULL;

	hash ^= hash >> 32;
	return (u32)(hash * 0x85ebca6bU) ^ (u32)(hash >> 40);
}

/*
 * The i-th element in which a site below a parent may be: the four of a cache line, and then those of another line
 * by the same hash. If they were in a row, whole rows would be full in a tree that is not half full, and all chains
 * that begin with a frame that belongs there would be lost.
 */
static __always_inline u32 node_slot(u32 hash, u32 i)
{
	u32 line = (hash >> 2) + (i >> 2) * (hash * 0x9e3779b1U >> 7 | 1);

	return (line << 2 | ((hash + i) & 3)) & node_mask;
}

/* The first element of the tree that a parent is in. */
static __always_inline u32 tree_of(u32 parent)
{
	if (parent & NODE_IS_ROOT)
		return parent & 1 ? node_mask + 1 : 0;
	return (parent - 1) & ~node_mask;
}

/* The owner of the number, if it may have one more element of a tree; else NULL. */
static __always_inline struct owner *admitted_owner(u32 number, u32 tree, bool after_gap)
{
	struct owner *owner = bpf_map_lookup_elem(&owners, &number);

	if (!owner || !element_admitted(node_mask + 1, callers_state.elements[tree],
					owner->elements[tree], after_gap))
		return NULL;
	return owner;
}

/*
 * The element of a site below a parent, + 1. If there is none it is made, if there is room and its owner may have
 * one more; else 0. Owners are numbered from 1 on here; with 0 none is made.
 */
__noinline u32 child_node(u32 parent, u64 site, u32 owner_number)
{
	u32 hash = node_hash(site, parent), first = tree_of(parent), tree = !!first, slot, i;
	struct caller_node *node;
	struct owner *owner;
	u64 held;

	for (i = 0; i < NODE_PROBES; i++) {
		slot = first + node_slot(hash, i);
		node = bpf_map_lookup_elem(&nodes, &slot);
		if (!node)
			return 0;
		held = node->site;
		if (!held) {
			if (!owner_number)
				return 0;
			owner = admitted_owner(owner_number - 1, tree, !!(site & SITE_AFTER_GAP));
			if (!owner)
				return 0;
			held = __sync_val_compare_and_swap(&node->site, 0, site);
			if (!held) {
				node->parent = parent;
				__sync_fetch_and_add(&owner->elements[tree], 1);
				__sync_fetch_and_add(&callers_state.elements[tree], 1);
				return slot + 1;
			}
		}
		if (held == site && node->parent == parent)
			return slot + 1;
	}
	return 0;
}

/* The same, charged to the process of the walk, whose owner is looked up if there is none yet. */
static __always_inline u32 walk_to_child(struct walk *walk, u32 parent, u64 site)
{
	u32 node = child_node(parent, site, walk->owner);

	if (node || walk->owner)
		return node;
	walk->owner = owner_of(NULL, bpf_get_current_task_btf()) + 1;
	return child_node(parent, site, walk->owner);
}

/* Enters the walk's i-th frame from the root; true: there is no room, and the walk's parent stays. */
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
	node = walk_to_child(walk, walk->parent, site);
	if (i < WALK_ENTERED) {
		walk->nr_entered = node ? i + 1 : i;
		entered->site = site;
		entered->node = node;
	}
	walk->parent = node ?: walk->parent;
	return !node;
}

/* The chain begins at the walk's parent: what is known of the last chain is of no use in another tree. */
static __always_inline void begin_chain(struct walk *walk, u32 generation)
{
	if (walk->entered_root != walk->parent || walk->entered_generation != generation)
		walk->nr_entered = 0;
	walk->entered_root = walk->parent;
	walk->entered_generation = generation;
	walk->owner = 0;
}

static __noinline int add_to_node(u32 slot, u32 n)
{
	struct caller_node *node = bpf_map_lookup_elem(&nodes, &slot);
	u32 before;

	if (!node)
		return 0;
	before = __sync_fetch_and_add(&node->count, n);
	return before + n < before ? carry(CARRY_OF_NODE | slot) : 0;
}

/* Counts n ticks at a place whose callers cannot be known. */
__noinline int count_place(const struct mapping *mapping, u32 target, u32 end, u32 n)
{
	u32 text, node = 0;
	struct space space; /* 6.1 does not take a pointer argument as a map key */
	u64 offset;

	if (!mapping)
		return 0;
	space = mapping->space;
	text = mapping->exec ? text_of(&space) : 0;
	offset = mapping->pc - mapping->start + mapping->offset;
	if (text)
		node = child_node(root_number(target, end) | NODE_IS_ROOT, make_site(text, offset),
				  owner_of(NULL, bpf_get_current_task_btf()) + 1);
	if (!node)
		return count_rootless(target, text ? END_FULL : end, n);
	return add_to_node(node - 1, n);
}

/*
 * Enters the chain of the walk that has just ended; 0: there is no room, and the walk's parent is what it
 * reached, else its last element + 1.
 */
__noinline u32 enter_chain(u32 cpu, u32 target)
{
	struct walk *walk = bpf_map_lookup_elem(&walks, &cpu);
	u32 i, nr, generation = *(volatile u32 *)&callers_state.generation;

	if (!walk)
		return 0;
	nr = walk->nr;
	walk->parent = walk->base ?: root_number(target, walk->end) | NODE_IS_ROOT;
	begin_chain(walk, generation);
	for (i = 0; i < WALK_FRAMES && i < nr; i++)
		if (enter_frame(cpu, i))
			return 0;
	return walk->parent;
}

/* How often a leaf is tried further up: what was reached has at most WALK_ENTERED frames that are known. */
enum { GAP_TRIES = 6 };

/*
 * Enters the leaf of a chain that had no room below what it reached, with a mark that the frames between are
 * missing. If that has no room either, another leaf may have left the same element further up.
 */
__noinline u32 enter_leaf(u32 cpu)
{
	struct walk *walk = bpf_map_lookup_elem(&walks, &cpu);
	u32 i, at, node;
	u64 leaf;

	if (!walk)
		return 0;
	leaf = walk->sites[0];
	/* What the kernel does for a frame is that frame's. */
	if (leaf == SITE_IN_KERNEL)
		leaf = walk->nr > 1 ? walk->sites[1] : 0;
	if (!leaf)
		return walk->base;
	leaf |= SITE_AFTER_GAP;
	node = walk_to_child(walk, walk->parent, leaf);
	at = walk->nr_entered;
	for (i = 0; i < GAP_TRIES && !node && at > 1; i++) {
		at /= 2;
		node = child_node(walk->entered[(at - 1) & (WALK_ENTERED - 1)].node, leaf, 0);
	}
	return node ?: child_node(walk->entered_root, leaf, walk->owner);
}

/* Counts n ticks at the chain of the walk that has just ended. */
__noinline int count_chain(u32 cpu, u32 target, u32 n)
{
	struct walk *walk = bpf_map_lookup_elem(&walks, &cpu);
	u32 node;

	if (!walk)
		return 0;
	if (!walk->nr)
		return count_rootless(target, walk->end, n);
	node = enter_chain(cpu, target) ?: enter_leaf(cpu);
	return node ? add_to_node(node - 1, n) : count_rootless(target, END_FULL, n);
}

#endif
