/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFILE_CHAINS_H
#define BPFPROFIL_PROFILE_CHAINS_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash_index.h"
#include "profile/profile.h"

/*
 * Connects histograms with the tree of callers. Histograms have the ticks of each place, and the
 * tree has their callers. Every consumer counts the ticks of bins, and looks up their chains here.
 * Thus shares, weights and sums are the same with and without callers, and ticks outside of bins
 * have no chains. A tick without a known chain has PROFILE_NO_NODE.
 */
#define PROFILE_NO_NODE UINT32_MAX

struct profile_chain {
	uint64_t ticks;
	uint32_t node; /* of the tick's frame, the bin's text; or PROFILE_NO_NODE */
	bool in_kernel; /* the kernel ran on behalf of that frame */
};

/* Ticks with a deeper chain count as unknown. The programs walk fewer: see WALK_FRAMES. */
#define PROFILE_CHAIN_DEPTH 1024

struct profile_chains;

/* NULL: out of memory. Without callers no tick has a node. */
struct profile_chains *profile_chains_new(const struct profile *profile);
void profile_chains_free(struct profile_chains *chains); /* NULL is fine */

/*
 * Returns the *nr chains of a histogram's i-th bin; their ticks add up to the bin's. Valid until
 * the next call.
 */
const struct profile_chain *profile_chains_of(struct profile_chains *chains,
					      const struct profile_histogram *histogram, size_t i,
					      size_t *nr);

/* How a chain's walk ended; WALK_END_COUNT: unknown. */
enum walk_end profile_chain_end(const struct profile_chains *chains, uint32_t node);

/* The marker above the first frame of a cut chain, "[cut: late]"; NULL: the chain is complete. */
extern const char *const profile_cut_names[WALK_END_COUNT + 1];

/* The name of PROFILE_SITE_KERNEL. */
#define PROFILE_KERNEL_FRAME "[kernel]"

/*
 * Contexts of frames that are coarser than sites, such as functions. Frames are numbers. The first
 * context is the top, without a frame. Parents come before their children.
 */
struct chain_context {
	uint32_t parent;
	uint32_t frame;
};

struct chain_tree {
	struct chain_context *all;
	size_t nr, capacity;
	struct hash_index index;
};

/* Returns the context of a frame below another one, and adds it if it is new. 0: out of memory. */
uint32_t chain_tree_child(struct chain_tree *tree, uint32_t parent, uint32_t frame);
void chain_tree_free(struct chain_tree *tree);

/*
 * The program of a chain is the first file among its frames that is not a shared library. There is
 * none if a chain only has libraries, as in the first frame of a thread, or before a program has
 * started.
 */

/* Returns the object if it can be a program, else NULL. NULL is fine. */
const struct profile_object *profile_as_program(const struct profile_object *object);

/* The object of a frame; NULL: none. */
typedef const struct profile_object *(*frame_object)(const void *of, uint32_t frame);

/* The program of each context, or NULL. The caller frees the array. NULL: out of memory. */
const struct profile_object **chain_tree_programs(const struct chain_tree *tree,
						  frame_object object_of, const void *of);

#endif
