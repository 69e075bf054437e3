/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_NODES_BPF_H
#define BPFPROFIL_NODES_BPF_H

/*
 * The one table in which all ticks are counted, with their callers or without.
 *
 * A tick is counted in a node. A node is one frame of a chain of callers: a site, and the parent
 * below which it is. The first frame of a chain hangs below a root, which names the target, the
 * split and how the walk ended. A tick without callers is a chain of one frame below the root of
 * END_FLAT.
 *
 *     root (target 0, split 4711, complete)
 *       main + 0x1f               count 0: no tick fell in it
 *         read_input + 0x40       count 0
 *           parse + 0x12          count 97
 *         parse + 0x80            count 3
 *
 * The table is a hash. From a parent and a site comes a hash, and from the hash up to NODE_LINES
 * cache lines with four nodes each in which the node may be. A new node is claimed by
 * compare-and-swap of its site, and no node is freed by itself. Therefore nothing is locked. If two
 * CPUs enter the same new site at the same moment, they may make two nodes of it, and the reader
 * adds them up.
 *
 * The table has two halves. Ticks are counted in one half while user space reads and clears the
 * other. User space swaps them at each cut, and as soon as a half is a quarter full: the rest must
 * last until the other half is clear. A half has roots of its own. A tick that finds no node is
 * counted in bins of 64 KiB, then with its target alone, and if even that has no node, as lost.
 */
#include "owner.bpf.h"
#include "room.bpf.h"
#include "spent.bpf.h"

/*
 * How often a count wrapped, by node. User space could also read each before it wraps. But at 100 kHz 64 CPUs fill 32
 * bits in 11 minutes, and a session that is stopped for longer would lose 2^32 ticks unnoticed.
 */
HASH(carries, u64, u64, 1024);

/*
 * Small halves are parts of this map, because the kernel reads four more cache lines to find an
 * element of a map of maps. The first base_nodes are the first half's, and the next base_nodes are
 * the second's. The size is set before load.
 */
MAPPED_ARRAY(nodes, struct node_line, 1);

/* Each half that is too large for that is one of these arrays. */
ADDED_ARRAYS(halves, node_half, BPF_F_INNER_MAP, struct node_line, 1, 2);

/*
 * The most roots of each half, and the number from which on a swap is requested. Both are
 * set before load.
 */
const volatile __u32 max_roots = 0;
const volatile __u32 roots_low = 0;

/* User space makes the roots of split 0 in advance. Therefore each tick finds a root. */
HASH(table_roots, struct table_root_key, struct table_root, 1);

static __always_inline u32 half_in_use(void)
{
	return *(volatile u32 *)&table_state.generation & 1;
}

/* Makes a root of a split that has none. NO_ROOT_NUMBER: there is no room. */
static __always_inline u32 new_root(const struct table_root_key *key)
{
	u32 half = key->half & 1, *next = &table_state.next_root[half];
	struct table_root fresh = {}, *root;

	/* There are hardly more numbers than roots: two CPUs may have numbered one root twice. */
	if (*next >= max_roots)
		return NO_ROOT_NUMBER;
	fresh.number = 2 * __sync_fetch_and_add(next, 1) + half;
	if (fresh.number / 2 >= roots_low)
		request_room();
	bpf_map_update_elem(&table_roots, key, &fresh, BPF_NOEXIST);
	root = bpf_map_lookup_elem(&table_roots, key);
	return root ? root->number : NO_ROOT_NUMBER;
}

/*
 * Returns the root for a target's ticks whose walks ended so. If the split has no room for a root
 * or for its account, it returns the root of split 0.
 */
__noinline u32 root_of(u32 target, u32 end)
{
	u32 half = half_in_use(), number = NO_ROOT_NUMBER;
	struct table_root_key key = { .target = target, .end = end, .half = half };
	struct table_root *root;

	if (split != SPLIT_NONE) {
		key.split = split_id();
		root = key.split ? bpf_map_lookup_elem(&table_roots, &key) : NULL;
		if (root)
			number = root->number;
		else if (key.split && tick_split(target))
			number = new_root(&key);
	}
	if (number == NO_ROOT_NUMBER)
		number = fixed_root(target, end, half);
	return number | NODE_IS_ROOT;
}

/* Counts n ticks that have no frame at all. */
__noinline int count_rootless(u32 target, u32 end, u32 n)
{
	struct table_root_key key = { .target = target, .end = end };
	struct table_root *root;

	key.half = root_of(target, end) & 1;
	key.split = split_id();
	root = bpf_map_lookup_elem(&table_roots, &key);
	if (!root) {
		key.split = 0;
		root = bpf_map_lookup_elem(&table_roots, &key);
	}
	if (root)
		__sync_fetch_and_add(&root->ticks, n);
	return 0;
}

/*
 * Sites of a parent that are close together share a line, because a loop's or a function's ticks
 * are found together then.
 */
enum { SITES_OF_LINE_SHIFT = 4 };

static __always_inline u64 node_hash(u64 site, u32 parent)
{
	return (site >> SITES_OF_LINE_SHIFT) * 0x9e3779b97f4a7c15ULL +
	       parent * 0xc2b2ae3d27d4eb4fULL;
}

static __always_inline u32 node_mask(u32 half)
{
	return *(volatile u32 *)&table_state.node_mask[half & 1];
}

/*
 * The i-th line in which a site below a parent may be. The lines are not adjacent: otherwise whole
 * stretches would fill up in a half that is not half full, and each chain that begins with a frame
 * there would be lost.
 */
static __always_inline u32 node_line(u64 hash, u32 i, u32 mask)
{
	return ((u32)(hash >> 32) + i * ((u32)hash | 1)) & mask / NODES_OF_LINE;
}

static __noinline struct node_line *line_of_large(u32 half, u32 line)
{
	void *large = bpf_map_lookup_elem(&halves, &half);

	return large ? bpf_map_lookup_elem(large, &line) : NULL;
}

static __always_inline struct node_line *line_at(u32 half, u32 line, u32 mask)
{
	u32 slot = half * (base_nodes / NODES_OF_LINE) + line;

	return mask < base_nodes ? bpf_map_lookup_elem(&nodes, &slot) : line_of_large(half, line);
}

static __always_inline u32 node_number(u32 half, u32 line, u32 i)
{
	return (half ? NODE_IN_SECOND : 0) | (line * NODES_OF_LINE + i);
}

/* Returns the owner of the number if it may have one more node of a half, else NULL. */
static __always_inline struct owner *admitted_owner(u32 number, u32 half, u64 site)
{
	struct owner *owner = bpf_map_lookup_elem(&owners, &number);
	bool last = site & SITE_AFTER_GAP || site_is_coarse(site);

	if (!owner || site == SITE_OF_OTHER)
		return owner;
	if (!node_admitted(node_mask(half) + 1, table_state.nodes_used[half],
			   owner->nodes_used[half], last))
		return NULL;
	return owner;
}

/*
 * Makes an empty node the node of a site below a parent, and returns 0. If another CPU was first it
 * returns the site that the node has now; ~0: the owner may not have one more. It is global, so
 * that the verifier checks it once and not in each round of the loop that calls it.
 */
__noinline u64 claim_node(struct table_node *node, u64 site, u32 parent, u32 owner_number)
{
	u32 half = half_of(parent);
	struct owner *owner = admitted_owner(owner_number & ~OWNER_QUIET, half, site);
	u64 held;

	if (!owner || !node)
		return ~0ULL;
	held = __sync_val_compare_and_swap(&node->site, 0, site);
	if (held)
		return held;
	node->parent = parent;
	__sync_fetch_and_add(&owner->nodes_used[half], 1);
	if (owner_number & OWNER_QUIET)
		__sync_fetch_and_add(&table_state.nodes_used[half], 1);
	else
		note_used(&table_state.nodes_used[half], node_mask(half) / SWAP_PART);
	return 0;
}

/*
 * The node of a site below a parent, its number + 1. If there is none it is made, if there is room and its owner may have
 * one more; else 0. Owners are numbered from 1 on here; with 0 none is made.
 */
__noinline u32 child_node(u32 parent, u64 site, u32 owner_number)
{
	u32 half = half_of(parent), mask = node_mask(half), line, i, j;
	u64 hash = node_hash(site, parent), held;
	struct node_line *nodes_of;
	struct table_node *node;

	for (i = 0; i < NODE_LINES; i++) {
		line = node_line(hash, i, mask);
		nodes_of = line_at(half, line, mask);
		if (!nodes_of)
			return 0;
		for (j = 0; j < NODES_OF_LINE; j++) {
			node = &nodes_of->node[j];
			held = *(volatile u64 *)&node->site;
			if (!held) {
				if (!owner_number)
					return 0;
				held = claim_node(node, site, parent, owner_number - 1);
				if (!held)
					return node_number(half, line, j) + 1;
				if (held == ~0ULL)
					return 0;
			}
			if (held == site && node->parent == parent)
				return node_number(half, line, j) + 1;
		}
	}
	return 0;
}

/* Notes that a count went past 32 bits. At 997 Hz this takes 64 CPUs in one place 18 hours. */
static __noinline int carry(u32 number)
{
	u64 key = CARRY_OF_NODE | number, one = 1, *times;

	times = bpf_map_lookup_elem(&carries, &key);
	if (times)
		__sync_fetch_and_add(times, 1);
	else
		bpf_map_update_elem(&carries, &key, &one, BPF_ANY);
	return 0;
}

static __always_inline bool count_in(struct table_node *node, u32 n)
{
	u32 before = __sync_fetch_and_add(&node->count, n);

	return before + n < before;
}

__noinline int add_to_node(u32 number, u32 n)
{
	u32 half = !!(number & NODE_IN_SECOND), at = number & (NODE_IN_SECOND - 1);
	struct node_line *line = line_at(half, at / NODES_OF_LINE, node_mask(half));

	if (line && count_in(&line->node[at % NODES_OF_LINE], n))
		carry(number);
	return 0;
}

/* The owner of the current process, + 1. */
__noinline u32 owner_of_current(void)
{
	return owner_of(NULL, bpf_get_current_task_btf()) + 1;
}

static __always_inline u64 coarse_site(u64 site)
{
	return (site & ~((1ULL << COARSE_SITE_SHIFT) - 1)) | SITE_COARSE;
}

/*
 * Counts n ticks that find no node, not even of a coarse place, without their place and split. Each
 * target needs this one node, which is charged to root. False: the half is full, and the ticks are
 * lost.
 */
__noinline int count_unplaced(u32 target, u32 n)
{
	u32 root = fixed_root(target, with_callers ? END_FULL : END_FLAT, half_in_use());
	u32 node = child_node(root | NODE_IS_ROOT, SITE_OF_OTHER, OWNER_ROOT + 1);
	struct target_account *account = bpf_map_lookup_elem(&target_accounts, &target);

	if (node) {
		add_to_node(node - 1, n);
		return true;
	}
	if (account)
		__sync_fetch_and_add(&account->lost[LOST_NO_MEMORY], n);
	spend_unbinned(target, n);
	return false;
}

/*
 * Counts n ticks at a site below a root, or else in the 64 KiB around it. False: there is no room.
 */
__noinline int count_below(u32 root, u64 site, u32 owner, u32 n)
{
	u32 node = child_node(root, site, owner) ?: child_node(root, coarse_site(site), owner);

	if (!node)
		return false;
	add_to_node(node - 1, n);
	return true;
}

/*
 * Does the same below the root of a target and of how the walk ended, or else counts without the
 * place.
 */
__noinline int count_site(u32 target, u32 end, u64 site, u32 n)
{
	u32 owner = owner_of_current(), root = root_of(target, end);

	if (end != END_FLAT)
		root = owned_root(root, owner - 1);
	return count_below(root, site, owner, n) || count_unplaced(target, n);
}

#endif
