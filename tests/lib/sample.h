/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TESTS_SAMPLE_H
#define BPFPROFIL_TESTS_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>

#include "profile/profile.h"

/*
 * A small profile that has everything a document can have: two targets, all kinds of objects, two
 * histograms of one object whose bins interleave, coarse bins, an overflow bin, lost ticks, and
 * names that need care. It passes profile_check(). tests/golden/profile.* is what it is written as.
 */
struct profile *sample_profile(void);

/* One histogram of nr bins and nothing else that is large. */
struct profile *sample_profile_of_bins(size_t nr);

/*
 * The same as sample_profile(), but every name in it is name, and the first of its targets has a
 * process: whatever stands in a name comes from other people.
 */
struct profile *sample_profile_of_names(const char *name);

/*
 * Names that mean something to a terminal, to a reader of lines or UTF-8, or to a format; one is
 * 64 KiB long. Ends with NULL.
 */
extern const char *const sample_names[];

/* UTF-8 without control characters. */
bool sample_is_harmless(const char *text);

#endif
