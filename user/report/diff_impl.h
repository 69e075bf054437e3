/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_DIFF_IMPL_H
#define BPFPROFIL_DIFF_IMPL_H

#include "report/diff.h"
#include "report/noise.h"
#include "report/rows.h"
#include "symbol/string_set.h"

/* One profile, and what its objects are compared with. */
struct diff_profile {
	const struct profile *profile;
	struct report_rows rows;
	const struct profile_object **as; /* for each object: the one that it is compared with */
	bool *one_build; /* for each object: what it is compared with is the same file */
	bool *has_ticks, *has_lines; /* for each object, by lines */
	double ns; /* all of its time */
	double unit; /* nanoseconds of a tick, averaged over the time in rows */
	struct string_set names; /* of rows with what they called */
};

struct diff_text {
	struct diff_profile old, new;
};

/*
 * Finds what each object is compared with, and adds a note if that is a guess or if there is none.
 * Returns 0, -ENOMEM, or -EINVAL for a map with an unknown object.
 */
int diff_pair_objects(struct diff *diff, struct error *err);

/*
 * By lines: makes rows of functions, on both sides, of objects that have lines on one side only,
 * and adds notes on lines that are missing. Returns 0 or a negative errno.
 */
int diff_match_lines(struct diff *diff, struct error *err);

/*
 * The text of a side as rows of functions compare it: without figures, and without a name where that is of
 * one build only. The row has an object and a name.
 */
struct diff_row diff_row_of_text(const struct diff_profile *side, const struct report_row *row);

/* Makes the rows, sorted by place, of what both sides have loaded. 0 or -ENOMEM. */
int diff_fill_rows(struct diff *diff);
int diff_compare_place(const void *left, const void *right);

/* The ticks of a row, and all ticks, as the test of noise wants them. */
struct noise_counts diff_count_row(const struct diff_text *text, const struct diff_row *row);

/*
 * Whether seconds can be compared. What was attached to may have been watched for unlike times, and sampled
 * seconds have noise.
 */
bool diff_is_of_runs(const struct diff *diff);

/*
 * Ranks functions or calls, which are sorted by place, so that what only passes a change on comes behind what
 * has it. 0 or -ENOMEM.
 */
int diff_rank(struct diff *diff);

#endif
