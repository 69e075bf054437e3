/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CONTEXT_TREE_H
#define BPFPROFIL_CONTEXT_TREE_H

#include "profile/profile_chains.h"
#include "report/row_marks.h"
#include "report/rows.h"

/* Ticks of a context: those that fell there, and with those of all contexts below it. */
struct context_sum {
	uint64_t ticks;
	uint64_t inclusive_ticks;
	double ns;
	double inclusive_ns;
	double squares, inclusive_squares; /* the variances of these times */
	uint32_t recursion; /* calls of a recursive function, one inside the other, that were folded into it; 0: one */
};

/*
 * Frames are numbered: the rows that were there before, and behind them what is no text. The first
 * context is no frame, but the sum of all.
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

/* Gives all contexts that are new sums of nothing. 0 or -ENOMEM. */
int context_tree_grow(struct context_tree *tree);

/* The context of a frame below another one; 0: out of memory. */
uint32_t context_tree_child(struct context_tree *tree, uint32_t parent, uint32_t frame);
void context_tree_free(struct context_tree *tree);

/* Adds a sum to that of a context. */
void context_sum_add(struct context_sum *sum, const struct context_sum *part);

/* Adds what fell in each context, and the inclusive sums of those below it, to its inclusive sum. */
void context_tree_include(struct context_tree *tree);

/*
 * Adds up inclusive sums by id: ids[context] says what a context counts for, NO_ROW for nothing. Of contexts
 * with one id, each below the other, only the outermost counts. 0 or -ENOMEM.
 */
int context_tree_sum(const struct context_tree *tree, const uint32_t *ids, size_t nr_ids,
		     struct context_sum *sums);

/* Replaces rows by those of the tree that the options ask for. */
int rows_chains_view(const struct profile *profile, const struct report_options *options,
		     const struct context_tree *tree, struct report_rows *rows, struct error *err);

#endif
