/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_NODES_BPF_H
#define BPFPROFIL_NODES_BPF_H

/*
 * The one table in which all ticks are counted, with their callers or without.
 *
 * A tick is counted in a node. A node is one frame of a chain of callers: a site, and the parent
 * below which it is. The first frame of a chain is below a root, which names the target, the split
 * and how the walk ended. A tick without callers is a chain of one frame below the root of
 * END_FLAT.
 *
 *     root (target 0, split 4711, complete)
 *       main + 0x1f               count 0: no tick fell in it
 *         read_input + 0x40       count 0
 *           parse + 0x12          count 97
 *         parse + 0x80            count 3
 *
 * The table is a hash. The hash of a parent and a site selects up to NODE_LINES cache lines with
 * four nodes each. A new node is claimed by compare-and-swap of its site, and no single node is
 * freed. Therefore nothing is locked. If two CPUs enter the same new site at the same moment, they
 * may make two nodes of it, and the reader adds them up.
 *
 * The table has two halves. Ticks are counted in one half while user space reads and clears the
 * other. User space swaps them at each cut, and when a half is a quarter full: the rest must last
 * until the other half is clear. Each half has its own roots. A tick that finds no node is counted
 * in bins of 64 KiB, then with its target alone, and if there is no node for that either, as lost.
 */
#include "owner.bpf.h"
#include "room.bpf.h"
#include "spent.bpf.h"

/*
 * How often the 32 bits of a node's count wrapped. User space cannot read each count before it
 * wraps: it may be stopped (SIGSTOP) for minutes.
 */
HASH(carries, u64, u64, 1024);

/*
 * Small halves are parts of this map, because an element of a map of maps costs the kernel four
 * more cache lines. The first base_nodes are the first half's, and the next base_nodes the
 * second's. The size is set before load.
 */
MAPPED_ARRAY(nodes, struct node_line, 1);

/* Each half that is too large for that is one of these arrays. */
ADDED_ARRAYS(halves, node_half, BPF_F_INNER_MAP, struct node_line, 1, 2);

/* The most roots of each half, and how many in use request a swap. Both are set before load. */
const volatile __u32 max_roots = 0;
const volatile __u32 roots_low = 0;

/* User space makes the roots of split 0 in advance. Therefore each tick finds a root. */
HASH(table_roots, struct table_root_key, struct table_root, 1);

static __always_inline u32 half_in_use(void)
{
	return *(volatile u32 *)&table_state.generation & 1;
}

/* Makes a root of a split that has none. NO_ROOT_NUMBER: there is no room. */
static __always_inline u32 new_root_number(const struct table_root_key *key)
{
	u32 half = key->half & 1, *next = &table_state.next_root[half];
	struct table_root fresh = {}, *root;

	/* If two CPUs make the same root, at most one number each is wasted. */
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
 * Returns the root of a target, the current split and an end of walks, as a parent. If there is no
 * room for the split's root or account, returns the root of split 0.
 */
__noinline u32 root_parent(u32 target, u32 end)
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
			number = new_root_number(&key);
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

	key.half = half_of(root_parent(target, end));
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
 * Sites of a parent that are close together share a line, because the ticks of a loop or a function
 * follow each other. The lines of a block of text share a page: a line of a page that no tick has
 * used for a while takes longer, because the page's address is not in the TLB either.
 */
enum { SITES_OF_LINE_SHIFT = 4, SITES_OF_PAGE_SHIFT = 10 };

static __always_inline u64 node_hash(u64 site, u32 parent)
{
	u32 line = site >> SITES_OF_LINE_SHIFT &
		   ((1 << (SITES_OF_PAGE_SHIFT - SITES_OF_LINE_SHIFT)) - 1);
	u64 page = (site >> SITES_OF_PAGE_SHIFT) * 0x9e3779b97f4a7c15ULL +
		   parent * 0xc2b2ae3d27d4eb4fULL;

	return page ^ (u64)line << 32;
}

static __always_inline u32 node_mask(u32 half)
{
	return *(volatile u32 *)&table_state.node_mask[half & 1];
}

/*
 * The i-th line in which a site below a parent may be. The lines are not adjacent. Otherwise lines
 * would fill up in clusters while the table still has room, and chains that start in a cluster
 * would be lost.
 */
static __always_inline u32 line_index(u64 hash, u32 i, u32 mask)
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

static __always_inline u32 ref_at(u32 half, u32 line, u32 i)
{
	return node_ref((half ? NODE_IN_SECOND : 0) | (line * NODES_OF_LINE + i));
}

static __noinline struct table_node *node_of(u32 ref)
{
	u32 number = node_number(ref), half = !!(number & NODE_IN_SECOND);
	u32 at = number & (NODE_IN_SECOND - 1);
	struct node_line *line = line_at(half, at / NODES_OF_LINE, node_mask(half));

	return line ? &line->node[at % NODES_OF_LINE] : NULL;
}

/* Returns the owner of the number. NULL: it may not have one more node of the half. */
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

enum claim { CLAIMED, CLAIM_REFUSED, CLAIM_LATE /* another CPU was first */ };

/*
 * Makes an empty node the node of a site below a parent. It is global, so that the verifier checks
 * it once and not in each round of the loop that calls it.
 */
__noinline int claim_node(struct table_node *node, u64 site, u32 parent, u32 owner_number)
{
	u32 half = half_of(parent);
	struct owner *owner = admitted_owner(owner_number & ~OWNER_QUIET, half, site);

	if (!owner || !node)
		return CLAIM_REFUSED;
	if (__sync_val_compare_and_swap(&node->site, 0, site))
		return CLAIM_LATE;
	node->parent = parent;
	__sync_fetch_and_add(&owner->nodes_used[half], 1);
	if (owner_number & OWNER_QUIET)
		__sync_fetch_and_add(&table_state.nodes_used[half], 1);
	else
		note_used(&table_state.nodes_used[half], node_mask(half) / SWAP_PART);
	return CLAIMED;
}

/*
 * Returns the reference of a site's node below a parent, and makes the node for its owner. NO_NODE:
 * there is no room, or the owner may not have one more. With NO_OWNER no node is made.
 */
__noinline u32 child_node(u32 parent, u64 site, u32 owner_number)
{
	u32 half = half_of(parent), mask = node_mask(half), at, i, j;
	u64 hash = node_hash(site, parent);
	struct node_line *line;
	struct table_node *node;
	int claim;

	for (i = 0; i < NODE_LINES; i++) {
		at = line_index(hash, i, mask);
		line = line_at(half, at, mask);
		if (!line)
			return NO_NODE;
		for (j = 0; j < NODES_OF_LINE; j++) {
			node = &line->node[j];
			if (!*(volatile u64 *)&node->site) {
				if (owner_number == NO_OWNER)
					return NO_NODE;
				claim = claim_node(node, site, parent, owner_number);
				if (claim == CLAIM_REFUSED)
					return NO_NODE;
				if (claim == CLAIMED)
					return ref_at(half, at, j);
			}
			if (*(volatile u64 *)&node->site == site && node->parent == parent)
				return ref_at(half, at, j);
		}
	}
	return NO_NODE;
}

/* Notes that a count went past 32 bits. At 997 Hz this takes 64 CPUs in one place 18 hours. */
static __noinline int carry(u32 ref)
{
	u64 key = node_number(ref), one = 1, *times;

	times = bpf_map_lookup_elem(&carries, &key);
	if (times)
		__sync_fetch_and_add(times, 1);
	else
		bpf_map_update_elem(&carries, &key, &one, BPF_ANY);
	return 0;
}

/* True: the count wrapped, and the caller calls carry(). */
static __always_inline bool count_wraps(struct table_node *node, u32 n)
{
	u32 before = __sync_fetch_and_add(&node->count, n);

	return before + n < before;
}

__noinline int add_to_node(u32 ref, u32 n)
{
	struct table_node *node = node_of(ref);

	if (node && count_wraps(node, n))
		carry(ref);
	return 0;
}

/* One for each CPU. */
ARRAY(known_owners, struct known_owner, 1);

__noinline u32 owner_of_current(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct user_namespace *ns = BPF_CORE_READ(task, cred, user_ns);
	u64 cgroups = (u64)BPF_CORE_READ(task, cgroups);
	u32 uid = BPF_CORE_READ(task, cred, uid.val), number = BPF_CORE_READ(ns, ns.inum);
	u32 cpu = bpf_get_smp_processor_id(), epoch = *(volatile u32 *)&table_state.epoch;
	struct known_owner *known = bpf_map_lookup_elem(&known_owners, &cpu);

	if (!known)
		return owner_of(NULL, task);
	if (known->cgroups == cgroups && known->user_ns == (u64)ns && known->ns_number == number &&
	    known->uid == uid && known->epoch == epoch)
		return known->number;
	known->number = owner_of(NULL, task);
	/* A tick that comes in between finds the old key, or the same task's. */
	barrier();
	known->cgroups = cgroups;
	known->user_ns = (u64)ns;
	known->ns_number = number;
	known->uid = uid;
	known->epoch = epoch;
	return known->number;
}

static __always_inline u64 coarse_site(u64 site)
{
	return (site & ~((1ULL << COARSE_SITE_SHIFT) - 1)) | SITE_COARSE;
}

/*
 * The last resort: counts n ticks in the target's one node without place and split. Root is charged
 * for it, because each target needs it. False: the half is full, and the ticks are lost.
 */
__noinline int count_unplaced(u32 target, u32 n)
{
	u32 root = fixed_root(target, with_callers ? END_FULL : END_FLAT, half_in_use());
	u32 node = child_node(root | NODE_IS_ROOT, SITE_OF_OTHER, OWNER_ROOT);
	struct target_account *account = bpf_map_lookup_elem(&target_accounts, &target);

	if (node) {
		add_to_node(node, n);
		return true;
	}
	if (account)
		__sync_fetch_and_add(&account->lost[LOST_NO_MEMORY], n);
	note_unbinned(target, n);
	return false;
}

/* Counts n ticks at a site below a root, else in the 64 KiB around it. False: there is no room. */
__noinline int count_below(u32 root, u64 site, u32 owner, u32 n)
{
	u32 node = child_node(root, site, owner) ?: child_node(root, coarse_site(site), owner);

	if (!node)
		return false;
	add_to_node(node, n);
	return true;
}

/* Does the same below the root of a target and an end of walks, or else calls count_unplaced(). */
__noinline int count_site(u32 target, u32 end, u64 site, u32 n)
{
	u32 owner = owner_of_current(), root = owned_root(root_parent(target, end), owner);

	return count_below(root, site, owner, n) || count_unplaced(target, n);
}

#endif
