/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_NOISE_H
#define BPFPROFIL_NOISE_H

#include <stddef.h>

/* Ticks that hit something, and all ticks, in two runs. */
struct noise_counts {
	double old, old_total;
	double new, new_total;
};

/*
 * The probability of a difference between the shares at least as large as this if they do not
 * really differ (two-sided): Fisher's exact test with mid-P. Both totals are fixed, differences are as
 * large as their distance from what is expected, and of the distance that was seen half of the
 * probability counts. (All of it would make few ticks look surer than they are to be noise.) Where
 * that would sum too many terms it is the two-proportion z test, which gives the same answer there.
 * Counts are rounded. It is 1 if there is nothing to compare.
 */
double noise_probability(const struct noise_counts *counts);

/* The same of two times, each the sum of ticks with this variance. */
double noise_of_times(double old, double old_variance, double new, double new_variance);

/*
 * Holm's correction, in place: among many comparisons some look significant by chance. What stays
 * below a level has that level for all of them together: at 0.01, of a hundred comparisons of equal
 * runs one shows anything at all. The probabilities must be ascending.
 */
void noise_correct(double *ascending, size_t nr);

#endif
