/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_STORE_FILL_H
#define BPFPROFIL_STORE_FILL_H

#include "host/engine/store_profile.h"
#include "host/engine/store_table.h"

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
