/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_HTML_CALLERS_H
#define BPFPROFIL_HTML_CALLERS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "profile/profile.h"
#include "report/diff_impl.h"
#include "report/render.h"

/* Whether a histogram is in a page. Overflow bins are no text; only the account has their ticks. */
static inline bool html_has_bins(const struct profile_histogram *histogram)
{
	return !histogram->overflow && profile_histogram_ticks(histogram);
}

/* Writes a line of the report as member of an object, unless it is empty. 0 or -ENOMEM. */
int html_line(const char *name, const struct report *report,
	      void (*render)(const struct report *report, FILE *out), FILE *data);

/*
 * Writes the callers of a page as JSON:
 *
 *   "contexts"  two numbers for each context of the tree but the 0th, which is the top: the distance
 *               back to its parent, and its frame
 *   "words"     frames from 0 on, which are not text; then follow all functions, then "places"
 *   "places"    text in no function
 *   "chains"    a list for each histogram of the page, or of the targets that count: the weight of a
 *               tick, and for each context the distance from the previous one, and its ticks
 *
 * bases are subtracted from each object's offsets. Returns 0 or -ENOMEM.
 */
int html_callers(const struct profile *profile, const struct profile *walked, const uint64_t *bases,
		 bool counted, FILE *data);

/*
 * Does the same for a side of a comparison, with its additional data: all time, the average time of
 * a tick, and "texts", the names of functions and then of each object for its other text.
 */
int html_diff_callers(const struct diff_profile *side, const uint64_t *bases, FILE *data);

#endif
