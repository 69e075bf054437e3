/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_NOISE_H
#define BPFPROFIL_NOISE_H

#include <stddef.h>

/* Ticks of a row, and all ticks, in two runs. */
struct noise_counts {
	double old, old_total;
	double new, new_total;
};

/*
 * The two-sided probability of a difference of shares at least as large as this, if the shares are
 * really equal. It is Fisher's exact test with mid-P: both totals are fixed, differences are
 * compared by their distance from the expected value, and the observed distance counts by half.
 * (Counting it in full would overstate the probability of noise for few ticks.) If too many terms
 * would have to be summed, it is the two-proportion z test, which gives the same result there.
 * Counts are rounded. Returns 1 if there is nothing to compare.
 */
double noise_probability(const struct noise_counts *counts);

/* Does the same for two times. Each is a sum of ticks with this variance. */
double noise_of_times(double old, double old_variance, double new, double new_variance);

/*
 * Holm's correction, in place: among many comparisons, some look significant by chance. Afterwards
 * a level holds for all of them together: at 0.01, one of a hundred comparisons of equal runs shows
 * a significant row at all. The probabilities must be ascending.
 */
void noise_correct(double *ascending, size_t nr);

#endif
