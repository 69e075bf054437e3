/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CHAIN_VIEW_H
#define BPFPROFIL_CHAIN_VIEW_H

#include "report/context_tree.h"

/* The tree that options ask for is made of that of all chains. */
struct chain_view {
	const struct profile *profile;
	const struct report_options *options;
	const struct context_tree *all;
	const struct report_rows *frames;
	struct context_tree folded, made;
	bool *wanted; /* by frame: whether its callers or callees are shown */
	double least; /* nanoseconds that a row must have to be shown */
};

static inline bool frame_is_wanted(const struct chain_view *view, uint32_t frame)
{
	return frame < view->frames->nr && view->wanted[frame];
}

static inline bool context_is_wanted(const struct chain_view *view, uint32_t context)
{
	return context && frame_is_wanted(view, view->all->contexts.all[context].frame);
}

/* The row of a frame with these ticks. */
struct report_row chain_row(const struct report_rows *frames, uint32_t frame,
			    const struct context_sum *sum);

/*
 * Makes the tree of all chains with recursion folded: where functions take turns for the second time, the chain
 * is back where they did for the first. What is below then has all its direct callers and callees as before.
 * 0 or -ENOMEM.
 */
int chain_fold(const struct chain_view *view, struct context_tree *folded);

/* Sets the neighbours of the wanted functions, whose callers were made. 0 or -ENOMEM. */
int chain_neighbours(const struct chain_view *view, struct report_rows *rows);

/* Makes the tree of all functions and their direct callers. 0 or -ENOMEM. */
int chain_calls(struct chain_view *view);

#endif
