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

/* In store_bins.c and store_callers.c. -ENOMEM. */
int filling_bins(struct filling *filling, struct tally *tallies);
int filling_callers(struct filling *filling, struct profile_callers *result);

#endif
