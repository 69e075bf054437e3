/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_DIFF_IMPL_H
#define BPFPROFIL_DIFF_IMPL_H

#include "report/diff.h"
#include "report/rows.h"
#include "symbol/string_set.h"

/* One side: a profile, and data to compare its objects. */
struct diff_profile {
	const struct profile *profile;
	const struct waits_view *waits; /* the profile is its; NULL: ticks are compared */
	struct report_rows rows;
	const struct profile_object **as; /* by object: its counterpart */
	bool *one_build; /* by object: its counterpart is the same file */
	bool *has_ticks, *has_lines; /* by object, for lines */
	double ns; /* of the whole profile */
	double unit; /* average nanoseconds of a tick in a row */
	struct string_set names; /* of inclusive rows */
};

struct diff_text {
	struct diff_profile old, new;
};

/*
 * Pairs the objects. Adds a note if a pair is a guess, or if an object has none. Returns 0,
 * -ENOMEM, or -EINVAL for a map with an unknown object.
 */
int diff_pair_objects(struct diff *diff, struct error *err);

/*
 * For lines: if only one side of an object has lines, both sides show its functions, and a note
 * says so. Returns 0 or a negative errno.
 */
int diff_match_lines(struct diff *diff, struct error *err);

/*
 * Makes the row that compares this text, without figures, and without a name that only one build
 * has. The row needs an object and a name.
 */
struct diff_row diff_row_of_text(const struct diff_profile *side, const struct report_row *row);

#endif
