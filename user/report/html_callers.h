/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_HTML_CALLERS_H
#define BPFPROFIL_HTML_CALLERS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "profile/profile.h"
#include "report/diff_impl.h"

/* Whether a histogram is in a page. An overflow bin stands for no text; its ticks are in the account. */
static inline bool html_has_bins(const struct profile_histogram *histogram)
{
	return !histogram->overflow && profile_histogram_ticks(histogram);
}

/*
 * Writes the callers of a page. "contexts" has two numbers for each context of their tree but the 0th, which
 * is the top: how far before it its parent is, and its frame. A frame is an index of "words", which are no
 * text, and beyond these of the functions, and beyond them of "places", which are in no function. "chains"
 * has a list for each histogram of the page, or of the targets that count: what a tick of it weighs, and then
 * for each context the distance from the one before, and its ticks. bases are subtracted from the offsets of
 * each object. Returns 0 or -ENOMEM.
 */
int html_callers(const struct profile *profile, const uint64_t *bases, bool counted, FILE *data);

/*
 * The same for a side of a comparison, with what it is compared by: the time of all and of an average tick,
 * and "texts", the names of its functions, and then of each object for what is in none.
 */
int html_diff_callers(const struct diff_profile *side, const uint64_t *bases, FILE *data);

#endif
