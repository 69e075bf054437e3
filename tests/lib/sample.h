/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TESTS_SAMPLE_H
#define BPFPROFIL_TESTS_SAMPLE_H

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

#endif
