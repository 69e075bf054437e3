/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CALLERS_TREE_H
#define BPFPROFIL_CALLERS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/callers.h"
#include "shared/callers_abi.h"

/* A root of the programs' tree, with the ticks that have no frame. */
struct tree_root {
	struct caller_root_key key;
	uint32_t number;
	uint64_t ticks;
};

/*
 * The programs' tree as it was read: which elements have ticks, and the roots. It is read while ticks
 * fall, so it may have some more, or less, than the histograms that were read with it.
 */
struct caller_tree {
	struct caller_node *nodes; /* the kernel's */
	uint32_t nr_nodes;
	uint32_t first; /* from it on, programs may still add */
	uint64_t *counts; /* by element: what was read */
	struct tree_root *roots; /* by number */
	size_t nr_roots;
};

/* Makes room for the counts; -ENOMEM. Call tree_free() in any case. */
int tree_begin(struct caller_tree *tree);
void tree_free(struct caller_tree *tree);

/* Adds what the elements have. take: and leaves 0 there. */
void tree_read(struct caller_tree *tree, bool take);

/* The root that an element hangs from, by its number; nr_roots: it is not complete yet. */
uint32_t tree_root_of(const struct caller_tree *tree, uint32_t element);

/* Whether an element is a leaf whose chain lacks the frames right above it. */
bool tree_is_after_gap(const struct caller_tree *tree, uint32_t element);

/* Adds the ticks of each target below nr to its sum. */
void tree_sum(const struct caller_tree *tree, uint64_t *sums, uint32_t nr);

/*
 * Takes so many ticks of each target out of what was read. back: and gives those of elements to the
 * kernel's tree; those of roots are still there, since what was taken of a root is the caller's to keep.
 */
void tree_give_back(struct caller_tree *tree, uint64_t *surplus, uint32_t nr, bool back);

/*
 * Makes a profile's sites and nodes of all elements with ticks and those above them. site_of says
 * where an element's frame is: false, it is left out, and what is below it too. root_of is by number:
 * the profile's root; UINT32_MAX: left out likewise. Equal children of one parent are one node. A leaf after a
 * gap is not below its parent, but below a copy of the chain that hangs from the root by gap_root_of. -ENOMEM.
 */
typedef bool (*tree_site)(void *context, uint64_t site, struct profile_site *result);
int tree_build(const struct caller_tree *tree, tree_site site_of, void *context,
	       const uint32_t *root_of, const uint32_t *gap_root_of,
	       struct profile_callers *result);

#endif
