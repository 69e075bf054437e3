/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CHAIN_VIEW_H
#define BPFPROFIL_CHAIN_VIEW_H

#include "report/context_tree.h"

/* Makes the tree that the options select from the tree of all chains. */
struct chain_view {
	const struct profile *profile;
	const struct report_options *options;
	const struct context_tree *source;
	const struct report_rows *frames;
	struct context_tree folded, made;
	bool *wanted; /* by frame: it matches --callers or --callees */
	double least; /* nanoseconds that a row needs to be shown */
};

static inline bool frame_is_wanted(const struct chain_view *view, uint32_t frame)
{
	return frame < view->frames->nr && view->wanted[frame];
}

static inline bool context_is_wanted(const struct chain_view *view, uint32_t context)
{
	return context && frame_is_wanted(view, view->source->contexts.all[context].frame);
}

/* Makes the row of a frame with these ticks. */
struct report_row chain_row(const struct report_rows *frames, uint32_t frame,
			    const struct context_sum *sum);

/*
 * Makes the tree of all chains with recursion folded. Where a round of functions repeats, the chain
 * continues in its first round. Direct callers and callees stay the same below it. 0 or -ENOMEM.
 */
int chain_fold(const struct chain_view *view, struct context_tree *folded);

/* Sets the neighbours of the wanted functions, once their callers were made. 0 or -ENOMEM. */
int chain_neighbours(const struct chain_view *view, struct report_rows *rows);

/* Makes the tree of all functions and their direct callers. 0 or -ENOMEM. */
int chain_calls(struct chain_view *view);

#endif
