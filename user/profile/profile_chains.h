/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFILE_CHAINS_H
#define BPFPROFIL_PROFILE_CHAINS_H

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

/*
 * Histograms say how many ticks fell where, and the tree of callers who sent them there. Whoever shows
 * chains takes the ticks of bins, as everybody does, and asks here by which chains they came: so
 * shares, weights and sums are the same with callers and without, and what is in no bin is in no
 * chain. Ticks of a bin whose chain is not known have no node: of walks that found no frame, the tree
 * only has their number.
 */
#define PROFILE_NO_NODE UINT32_MAX

struct profile_chain {
	uint64_t ticks;
	uint32_t node; /* of the tick's own frame, which is the bin's text; or PROFILE_NO_NODE */
	bool in_kernel; /* the kernel was at work for that frame */
};

/* A tick below more frames counts as one whose chain is not known: the kernel walks 128. */
#define PROFILE_CHAIN_DEPTH 1024

struct profile_chains;

/* NULL: out of memory. In a profile without callers no tick has a node. */
struct profile_chains *profile_chains_new(const struct profile *profile);
void profile_chains_free(struct profile_chains *chains); /* NULL is fine */

/*
 * The chains of a histogram's i-th bin, of which there are *nr; their ticks add up to the bin's. Valid
 * until the next call.
 */
const struct profile_chain *profile_chains_of(struct profile_chains *chains,
					      const struct profile_histogram *histogram, size_t i,
					      size_t *nr);

/* How a chain's walk ended; WALK_END_COUNT: nobody knows. */
enum walk_end profile_chain_end(const struct profile_chains *chains, uint32_t node);

/* What stands above the first frame of a chain, "[cut: late]"; NULL: it is whole. */
extern const char *const profile_cut_names[WALK_END_COUNT + 1];

/* The frame of PROFILE_SITE_KERNEL. */
#define PROFILE_KERNEL_FRAME "[kernel]"

/*
 * Contexts of frames that are told apart more coarsely than by site, as functions are: a number says
 * which frame it is. The first context is the top, which is no frame; parents come before their
 * children.
 */
struct chain_context {
	uint32_t parent;
	uint32_t frame;
};

struct chain_tree {
	struct chain_context *all;
	size_t nr, capacity;
	uint32_t *slots; /* by what the context is */
	size_t room; /* a power of two */
};

/* The context of a frame below another one, added if it is new. 0: out of memory. */
uint32_t chain_tree_child(struct chain_tree *tree, uint32_t parent, uint32_t frame);
void chain_tree_free(struct chain_tree *tree);

/*
 * A chain belongs to a program: the first file among its frames that is no shared library. Below the
 * first frame of a thread, or of a program that has not started yet, there are libraries alone.
 */

/* Returns the object if it can be a program, else NULL. NULL is fine. */
const struct profile_object *profile_program(const struct profile_object *object);

/* The object that a frame is in; NULL: none. */
typedef const struct profile_object *(*frame_object)(const void *of, uint32_t frame);

/* The program of each context, or NULL. The caller frees the array. Returns NULL if out of memory. */
const struct profile_object **chain_tree_programs(const struct chain_tree *tree,
						  frame_object object_of, const void *of);

#endif
