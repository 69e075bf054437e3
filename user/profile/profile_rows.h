/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFILE_ROWS_H
#define BPFPROFIL_PROFILE_ROWS_H

#include "profile/profile_chains.h"
#include "profile/profile_weights.h"

/*
 * Iterates over a profile, for tables, pages, exports and samples: each bin of the chosen
 * histograms, with its text, ticks and owner; with callers, each chain of a bin. It needs far less
 * memory than the bins.
 *
 * ret = profile_rows_begin(&rows, profile, &choice);
 * if (!ret)
 * 	profile_rows_start(&rows, PROFILE_ROWS_BY_PLACE);
 * while (!ret && (row = profile_rows_of_all(&rows)))
 * 	...
 * profile_rows_end(&rows);
 */
struct profile_row {
	const struct profile_histogram
		*histogram; /* the owner; NULL: a place of calls, without ticks */
	size_t number; /* of the bin in the histogram, or of the place of calls in the profile */
	uint32_t object;
	uint64_t offset, size; /* its text; of a call, the last byte */
	uint64_t ticks;
	uint32_t node; /* of its chain; PROFILE_NO_NODE: unknown, or not requested */
	bool in_kernel; /* the kernel ran on behalf of that frame */
	bool again; /* the previous row has the same offset */
};

/* Whether rows have chains, if the profile has callers, and which places of calls are rows. */
enum profile_rows_callers {
	PROFILE_ROWS_FLAT,
	PROFILE_ROWS_WITH_CALLERS,
	PROFILE_ROWS_WITH_OWN_CALLERS, /* only places of calls in the chosen ticks' chains */
};

struct profile_choice {
	bool (*chosen)(const struct profile *profile, const void *of,
		       const struct profile_histogram *histogram); /* NULL: all */
	const void *of;
	enum profile_rows_callers callers;
};

enum profile_rows_order {
	PROFILE_ROWS_BY_HISTOGRAM, /* in the order of the profile; a part is a histogram */
	/*
	 * By object and offset; a part is an object. At one offset, rows of earlier histograms come
	 * first. With callers, places of calls are rows, too.
	 */
	PROFILE_ROWS_BY_PLACE,
	PROFILE_ROWS_OF_CHAINS = 2, /* with one of these: a row for each chain of a bin */
};

/* A source of the part's rows. */
struct profile_rows_source {
	const struct profile_histogram *histogram; /* NULL: the places of calls in an object */
	size_t next, end; /* remaining bins or places of calls */
	uint64_t offset; /* of the next one */
};

struct profile_rows {
	const struct profile *profile;
	struct profile_index *index;
	struct profile_weights *weights;
	bool is_split; /* some histograms were split by process */
	bool ends[WALK_END_COUNT + 1]; /* with own callers: how walks of ticks ended */
	uint32_t object; /* of the part */
	const struct profile_histogram *histogram; /* of the part, by histogram */
	/* The rest is private. */
	struct profile_chains *chains; /* NULL: not requested */
	bool *called; /* by site: it is a row. NULL: none are */
	uint32_t *contexts; /* by node: of the frames down to it */
	uint32_t cuts[WALK_END_COUNT + 1]; /* by end: the context of its marker */
	const struct profile_histogram **sorted;
	size_t nr;
	enum profile_rows_order order;
	size_t first, end; /* the part's histograms, */
	size_t site, end_site; /* and its places of calls, */
	struct profile_text calls; /* and the range of these */
	struct profile_rows_source *heap; /* the source of the next row is on top */
	size_t nr_heap;
	struct profile_row row; /* the last one */
	const struct profile_chain *chain; /* the next one of its bin, */
	size_t nr_chains; /* and how many remain */
	struct profile_row named; /* the last row that was looked up, */
	uint64_t last_named; /* the last offset with the same function, */
	const struct profile_function *function; /* and that function */
	const struct profile_histogram *weighed; /* histogram of these: */
	double weight, variance;
};

/* Returns 0 or -ENOMEM. Call profile_rows_end() in any case. */
int profile_rows_begin(struct profile_rows *rows, const struct profile *profile,
		       const struct profile_choice *choice);
void profile_rows_end(struct profile_rows *rows);

/* Starts an iteration over all rows, in that order. */
void profile_rows_start(struct profile_rows *rows, enum profile_rows_order order);

/* Advances to the next part with rows; false: there is none. */
bool profile_rows_next_part(struct profile_rows *rows);

/* Returns to the first row of the part. */
void profile_rows_restart(struct profile_rows *rows);

/*
 * Returns the next row of the part, or of all parts; NULL: there are no more. Valid until the next
 * call.
 */
const struct profile_row *profile_rows_next(struct profile_rows *rows);
const struct profile_row *profile_rows_of_all(struct profile_rows *rows);

/* The range of the part's histograms and places of calls. */
struct profile_text profile_rows_extent(const struct profile_rows *rows);

/* The function of a row's text; NULL: unknown. */
const struct profile_function *profile_rows_function(struct profile_rows *rows,
						     const struct profile_row *row);

struct tick_sum {
	uint64_t ticks;
	double ns; /* CPU time of the ticks */
	double squares; /* sum of the squares of each tick's ns: the variance of ns */
};

static inline void tick_sum_add(struct tick_sum *sum, const struct tick_sum *part)
{
	sum->ticks += part->ticks;
	sum->ns += part->ns;
	sum->squares += part->squares;
}

/* A row's ticks and their CPU time. */
struct tick_sum profile_rows_weigh(struct profile_rows *rows, const struct profile_row *row);

/* The next whole nanoseconds for a row's ticks: see profile_weights_next_ns(). */
static inline uint64_t profile_rows_next_ns(struct profile_rows *rows,
					    const struct profile_row *row)
{
	return profile_weights_next_ns(rows->weights, row->histogram, row->ticks);
}

/* --- callers ---------------------------------------------------------------------------------- */

/* How chains become contexts of a tree. */
struct profile_frames {
	struct chain_tree *tree;
	/* Returns the frames of a row's text, outermost first, at most PROFILE_FRAMES_MAX. */
	size_t (*of_text)(void *of, const struct profile_row *row, uint32_t *frames);
	uint32_t (*of_cut)(void *of, enum walk_end end); /* above the first frame of a cut chain */
	uint32_t kernel; /* on behalf of a frame */
	void *of;
};

#define PROFILE_FRAMES_MAX 64

/*
 * Makes the contexts of all chains. The kernel counts for the frame on whose behalf it ran. 0 or
 * -ENOMEM.
 */
int profile_rows_add_callers(struct profile_rows *rows, const struct profile_frames *frames);

/* Then returns the context of the frames above a node; 0: the top. */
uint32_t profile_rows_above(const struct profile_rows *rows, uint32_t node);

/* Returns the context of a row with its own frames, and the kernel's on their behalf. -ENOMEM. */
int profile_rows_context(const struct profile_rows *rows, const struct profile_frames *frames,
			 const struct profile_row *row, uint32_t *context);

#endif
