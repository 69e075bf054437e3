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
 * or a class of waits, and has nothing below it.
 */
enum { PLACE_SHIFT_BIT = 48, PLACE_SHIFT_BITS = 5 };

struct store_node {
	uint64_t count;
	uint64_t place;
	uint32_t text;
	uint32_t parent; /* another's node_ref(), or NODE_IS_ROOT and a root's number */
};

struct store_root {
	struct table_root_key key; /* half is always 0 */
	uint32_t owner; /* of the processes with ticks below it; the root's own ticks: OWNER_ROOT */
	uint64_t ticks;
};

struct store {
	uint32_t bin_shift;
	bool has_waits;
	struct store_node *nodes;
	size_t nr_nodes;
	size_t node_room;
	struct node_waits *waits; /* by node, in a store of waits */
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

/* Makes room for this many more of each. Adding these cannot fail afterwards. -ENOMEM. */
int store_reserve(struct store *store, size_t nodes, size_t roots, size_t texts);

/*
 * Returns the index of an equal element, and adds the element if there is none. The count of a node
 * is added to that of an equal one.
 */
uint32_t store_put_root(struct store *store, const struct table_root_key *key, uint32_t owner);
uint32_t store_put_text(struct store *store, const struct store_text *text);
uint32_t store_put_node(struct store *store, const struct store_node *node);

void store_add_waits(struct store *store, uint32_t node, const struct node_waits *waits);

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
	bool *left_out; /* by root: its ticks are filtered */
	const struct space_info **infos; /* by text; NULL: it was never announced */
	uint32_t *like; /* by text: the first text of the same object */
	uint32_t *objects; /* by first text: its object; NO_SOURCE: none yet */
	uint32_t *kernel; /* by module, and last for the rest of the kernel: the same */
	size_t object_room;
	size_t source_room;
};

/* Finds the data that all nodes need; both for each store. -ENOMEM. */
int filling_begin(struct filling *filling);
void filling_end(struct filling *filling);

/* The site of a node with a text. Replaced code has its own place: see jit_text.h. -ENOMEM. */
int filling_site(struct filling *filling, const struct store_node *node,
		 struct profile_site *result);

/* The names of a split in an account, or in a root; 0: none. -ENOMEM. */
int filling_name_split(const struct filling *filling, uint64_t split, int64_t *pid, char **process,
		       char **cgroup);

/* A tree of a profile in the making. Equal roots and nodes are folded at the end. */
struct filling_tree {
	struct filling *filling;
	struct profile_callers *result;
	struct hash_index sites; /* of the profile */
	size_t root_room;
};

/* Makes room for so many nodes. Call filling_tree_end() in any case. -ENOMEM. */
int filling_tree_begin(struct filling_tree *tree, size_t nr_nodes);
void filling_tree_end(struct filling_tree *tree);

/* Add a root with the target of the key, and a node. *result: as a parent. -ENOMEM. */
int filling_add_root(struct filling_tree *tree, const struct table_root_key *key, uint64_t split,
		     enum walk_end end, int32_t *result);
int filling_add_node(struct filling_tree *tree, const struct store_node *node, int32_t parent,
		     int32_t *result);

/* Adds to the figures of a node, or of a root. */
void filling_add_ticks(struct filling_tree *tree, int32_t at, uint64_t ticks, uint64_t waits);

/* In store_bins.c and store_callers.c. -ENOMEM. */
int filling_bins(struct filling *filling, struct tally *tallies);
int filling_callers(struct filling *filling, struct profile_callers *result);

#endif
