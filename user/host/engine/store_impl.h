/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_STORE_IMPL_H
#define BPFPROFIL_STORE_IMPL_H

#include "base/hash_index.h"
#include "host/engine/store.h"
#include "host/engine/store_profile.h"

/*
 * The inside of the store, for its own files only: lists of nodes, roots and texts, and a hash of
 * each. A node comes after its parent.
 */

/* No chain is longer, unless the table is damaged. */
enum { CHAIN_MAX = WALK_FRAMES + WALK_KERNEL_FRAMES + 1 };

/*
 * A node's place: the offset in its text, or SITE_IN_KERNEL without a text. Bits 48 to 52: log2 of
 * the bin if the place was reduced to one, else 0. A node of such a place is directly below a root,
 * and has nothing below it.
 */
enum { PLACE_SHIFT_BIT = 48, PLACE_SHIFT_BITS = 5 };

struct store_node {
	uint64_t count; /* ticks, or nanoseconds of waits */
	uint64_t place;
	uint32_t text;
	uint32_t parent; /* another's node_ref(), or NODE_IS_ROOT and a root's number */
};

struct store_root {
	struct table_root_key key; /* half is always 0 */
	uint32_t owner; /* of the processes with ticks below it; the root's own ticks: OWNER_ROOT */
	uint32_t class; /* of its waits: enum wait_state; 0: it has ticks */
	uint64_t ticks;
};

struct store {
	uint32_t bin_shift;
	bool has_waits; /* beside ticks */
	struct store_node *nodes;
	size_t nr_nodes;
	size_t node_room;
	uint64_t *waits; /* by node: the number of waits, if it has any */
	size_t wait_room;
	struct hash_index node_index;
	struct store_root *roots;
	size_t nr_roots;
	size_t root_room;
	struct hash_index root_index;
	struct store_text *texts;
	size_t nr_texts;
	size_t text_room;
	struct hash_index text_index;
};

static inline uint32_t place_shift(uint64_t place)
{
	return place >> PLACE_SHIFT_BIT & ((1U << PLACE_SHIFT_BITS) - 1);
}

/* In kernel text it is the address. */
static inline uint64_t place_offset(const struct store *store, const struct store_node *node)
{
	const uint64_t offset = node->place & SITE_OFFSET_MASK;

	return store->texts[node->text].space.kind == SPACE_KERNEL ? offset | ~SITE_OFFSET_MASK :
								     offset;
}

/* Others are outside of all text, or waits without a place. */
static inline bool has_place(const struct store_node *node)
{
	return !(node->parent & NODE_IS_ROOT && node->place & SITE_IN_KERNEL);
}

/* Makes room for this many more of each. Adding these cannot fail afterwards. -ENOMEM. */
int store_reserve(struct store *store, size_t nodes, size_t roots, size_t texts);

/*
 * Returns the index of an equal element, and adds the element if there is none. The ticks and waits
 * of an element are added to those of an equal one.
 */
uint32_t store_put_root(struct store *store, const struct store_root *root);
uint32_t store_put_text(struct store *store, const struct store_text *text);
uint32_t store_put_node(struct store *store, const struct store_node *node, uint64_t waits);

/*
 * The same for a root without its own ticks, as a parent. full: for chains that have lost frames.
 * Ticks and waits without callers have no such root.
 */
uint32_t store_put_parent(struct store *store, struct store_root root, bool full);

void store_free_roots_and_texts(struct store *store);

/* Frees memory that the nodes no longer need. */
void store_trim(struct store *store);

/* The root of each node; the caller frees it. NULL: out of memory. */
uint32_t *store_roots_of_nodes(const struct store *store);

/* --- making a profile ------------------------------------------------------------------------- */

/*
 * Finds the profile's objects for the texts of a store. Texts that differ only in their version
 * share an object, and so do the inodes of one file: a file that is not open may get another inode
 * in memory. Each kernel module has its own object.
 */
struct filling {
	const struct store *store;
	struct seen_names *names;
	const struct kernel_modules *modules;
	struct profile *profile;
	struct error *err;
	uint32_t *roots; /* by node: its root */
	uint64_t *counts; /* by node: its count in the profile */
	bool *left_out; /* by root: its ticks are filtered */
	const struct space_info **infos; /* by text; NULL: it was never announced */
	uint32_t *like; /* by text: the first text of the same object */
	uint32_t *objects; /* by first text: its object; NO_SOURCE: none yet */
	uint32_t *kernel; /* by module, and last for the rest of the kernel: the same */
	size_t object_room;
	size_t source_room;
};

/* In store_objects.c. Finds the first text of each object. -ENOMEM. */
int filling_find_likes(struct filling *filling);

/* The site of a node with a text. Replaced code has its own place: see jit_text.h. -ENOMEM. */
int filling_site(struct filling *filling, const struct store_node *node,
		 struct profile_site *result);

/* The names of a split in an account, or in a root; 0: none. -ENOMEM. */
int filling_name_split(const struct filling *filling, uint64_t split, int64_t *pid, char **process,
		       char **cgroup);

/*
 * In store_bins.c, store_callers.c and store_waits.c. A tree has ticks or waits. Equal roots and
 * nodes in it are not folded yet, and the class of a root is an enum wait_state. -ENOMEM.
 */
int filling_bins(struct filling *filling, struct tally *tallies);
int filling_tree(struct filling *filling, bool of_waits, struct profile_callers *result);
int filling_waits(struct filling *filling, const struct waits_accounts *accounts,
		  struct profile_waits *result);

#endif
