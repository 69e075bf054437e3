/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CONTEXT_TREE_H
#define BPFPROFIL_CONTEXT_TREE_H

#include "profile/profile_chains.h"
#include "report/row_marks.h"
#include "report/rows.h"

/* A context's own ticks, and its inclusive ticks: with all contexts below it. */
struct context_sum {
	struct tick_sum own, inclusive;
	uint32_t recursion; /* depth of folded recursion; 0: none */
	uint64_t waits; /* its own number of waits, in the tree of all chains */
};

/*
 * Numbers of frames: the rows come first, then frames that are not text. Context 0 is not a frame,
 * but the sum of all.
 */
enum context_frame {
	FRAME_KERNEL,
	FRAME_SELF,
	FRAME_FIRST, /* nobody called it */
	FRAME_CUT, /* and so on, as profile_cut_names */
};

struct context_tree {
	struct chain_tree contexts;
	struct context_sum *sums;
	size_t room;
};

/* Makes room for the sums of all new contexts. 0 or -ENOMEM. */
int context_tree_grow(struct context_tree *tree);

/* Returns the context of a frame below another one; 0: out of memory. */
uint32_t context_tree_child(struct context_tree *tree, uint32_t parent, uint32_t frame);
void context_tree_free(struct context_tree *tree);

/* Adds each context's ticks, and the inclusive sums below it, to its inclusive sum. */
void context_tree_include(struct context_tree *tree);

/*
 * Adds up inclusive sums by id; ids[context] may be NO_ROW. If contexts with one id are below each
 * other, only the outermost counts. 0 or -ENOMEM.
 */
int context_tree_sum(const struct context_tree *tree, const uint32_t *ids, size_t nr_ids,
		     struct context_sum *sums);

/* Replaces rows by one for each row and class that waited in it. 0 or -ENOMEM. */
int rows_by_class(const struct waits_view *waits, const struct context_tree *tree,
		  struct report_rows *rows);

/* Replaces rows by those of the tree that the options select. */
int rows_chains_view(const struct profile *profile, const struct report_options *options,
		     const struct context_tree *tree, struct report_rows *rows, struct error *err);

#endif
