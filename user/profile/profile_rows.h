/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFILE_ROWS_H
#define BPFPROFIL_PROFILE_ROWS_H

#include "profile/profile_chains.h"
#include "profile/profile_weights.h"

/*
 * The way from a profile to tables, pages, exports and samples: each bin of the chosen histograms, with the
 * place of its text, its ticks and whose they are; with callers, by the chains that the ticks came by. It
 * needs far less memory than the bins.
 *
 *	ret = profile_rows_begin(&rows, profile, &choice);
 *	if (!ret)
 *		profile_rows_start(&rows, PROFILE_ROWS_BY_PLACE);
 *	while (!ret && (row = profile_rows_of_all(&rows)))
 *		...
 *	profile_rows_end(&rows);
 */
struct profile_row {
	const struct profile_histogram
		*histogram; /* says whose; NULL: a place of calls, without ticks */
	size_t number; /* of the bin in the histogram, or of the place of calls in the profile */
	uint32_t object;
	uint64_t offset, size; /* its text; of a call, the last byte of it */
	uint64_t ticks;
	uint32_t node; /* of its chain; PROFILE_NO_NODE: unknown, or not asked for */
	bool in_kernel; /* the kernel was at work for that frame */
	bool again; /* the row before was at this offset too */
};

/* Whether rows know chains, if the profile has callers, and which places of calls are rows. */
enum profile_rows_callers {
	PROFILE_ROWS_FLAT,
	PROFILE_ROWS_WITH_CALLERS,
	PROFILE_ROWS_WITH_OWN_CALLERS, /* only places of calls that the chosen ticks came by */
};

/* Which histograms are meant. */
struct profile_choice {
	bool (*chosen)(const struct profile *profile, const void *of,
		       const struct profile_histogram *histogram); /* NULL: all */
	const void *of;
	enum profile_rows_callers callers;
};

enum profile_rows_order {
	PROFILE_ROWS_BY_HISTOGRAM, /* as they are in the profile; a part is a histogram */
	/*
	 * By object and offset; a part is an object. Of rows at one offset those of the earlier histogram come
	 * first. With callers, places of calls are rows too.
	 */
	PROFILE_ROWS_BY_PLACE,
	PROFILE_ROWS_OF_CHAINS = 2, /* beside one of these: a row for each chain of a bin */
};

/* What the rows of a part come from. */
struct profile_rows_source {
	const struct profile_histogram *histogram; /* NULL: the places of calls in an object */
	size_t next, end; /* bins, or places of calls, that are still to come */
	uint64_t offset; /* of the next one */
};

struct profile_rows {
	const struct profile *profile;
	struct profile_index *index;
	struct profile_weights *weights;
	bool is_split; /* the ticks of some were split by process */
	bool ends[WALK_END_COUNT + 1]; /* with their own callers: how the walks of ticks ended */
	uint32_t object; /* of the part, */
	const struct profile_histogram *histogram; /* and by histogram, this */
	/* The rest is its own. */
	struct profile_chains *chains; /* NULL: nobody asked for them */
	bool *called; /* by site: it is a row. NULL: there are none */
	uint32_t *contexts; /* by node: of the frames down to it */
	uint32_t cuts[WALK_END_COUNT + 1]; /* what chains of an end are below */
	const struct profile_histogram **sorted;
	size_t nr;
	enum profile_rows_order order;
	size_t first, end; /* the part's histograms, */
	size_t site, end_site; /* and its places of calls, */
	struct profile_text calls; /* and where these begin and end */
	struct profile_rows_source *heap; /* the next row's is on top */
	size_t nr_heap;
	struct profile_row row; /* the last one */
	const struct profile_chain *chain; /* the next one of its bin, */
	size_t nr_chains; /* and how many there are */
	struct profile_row named; /* the row that was looked up last, */
	uint64_t last_named; /* up to where text has the same function, */
	const struct profile_function *function; /* and that function */
	const struct profile_histogram *weighed; /* the histogram of which these are: */
	double weight, variance;
};

/* Returns 0 or -ENOMEM. Call profile_rows_end() in any case. */
int profile_rows_begin(struct profile_rows *rows, const struct profile *profile,
		       const struct profile_choice *choice);
void profile_rows_end(struct profile_rows *rows);

/* Begins to go through all rows, in that order. */
void profile_rows_start(struct profile_rows *rows, enum profile_rows_order order);

/* Goes to the next part that has rows; false: there is no other. */
bool profile_rows_next_part(struct profile_rows *rows);

/* Goes back to the first row of the part. */
void profile_rows_restart(struct profile_rows *rows);

/* The next row of the part, or of all parts; NULL: there are no more. It is valid until the next call. */
const struct profile_row *profile_rows_next(struct profile_rows *rows);
const struct profile_row *profile_rows_of_all(struct profile_rows *rows);

/* Where the histograms and places of calls of the part begin and end. */
struct profile_text profile_rows_extent(const struct profile_rows *rows);

/* The function that has the text of a row; NULL: unknown. */
const struct profile_function *profile_rows_function(struct profile_rows *rows,
						     const struct profile_row *row);

/*
 * The CPU time that a row's ticks stand for, and its variance: the sum of the squares of what each tick stands
 * for.
 */
void profile_rows_weigh(struct profile_rows *rows, const struct profile_row *row, double *ns,
			double *variance);

/* The next whole nanoseconds for the ticks of a row: see profile_weights_take(). */
static inline uint64_t profile_rows_take(struct profile_rows *rows, const struct profile_row *row)
{
	return profile_weights_take(rows->weights, row->histogram, row->ticks);
}

/* --- callers ------------------------------------------------------------------------------------ */

/* How chains become contexts of a tree. */
struct profile_frames {
	struct chain_tree *tree;
	/* Sets the frames that a row's text is, outermost first, at most PROFILE_FRAMES_MAX. Returns how many. */
	size_t (*of_text)(void *of, const struct profile_row *row, uint32_t *frames);
	uint32_t (*of_cut)(void *of, enum walk_end end); /* above the first frame of such a chain */
	uint32_t kernel; /* at work for a frame */
	void *of;
};

#define PROFILE_FRAMES_MAX 64

/* Makes the contexts of all chains, the kernel's being those of what it worked for. 0 or -ENOMEM. */
int profile_rows_add_callers(struct profile_rows *rows, const struct profile_frames *frames);

/* The context of the frames above a node, once they are made; 0: the top. */
uint32_t profile_rows_above(const struct profile_rows *rows, uint32_t node);

/* The context of a row with its own frames, and the kernel if that is at work for these. -ENOMEM. */
int profile_rows_context(const struct profile_rows *rows, const struct profile_frames *frames,
			 const struct profile_row *row, uint32_t *context);

#endif
