/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_NOISE_H
#define BPFPROFIL_NOISE_H

#include <stddef.h>

/* Ticks that hit something, out of all, in two runs. */
struct noise_counts {
	double old, old_total;
	double new, new_total;
};

/*
 * How probable a difference of the shares as large as this one is when they do not differ: two-sided.
 * Few ticks by the exact binomial test of how they fall to the two runs, many by the two-proportion z
 * test, which has the exact one's answer there. 1 when there is nothing to compare.
 */
double noise_probability(const struct noise_counts *counts);

/*
 * Holm's correction, in place: among many comparisons some look unlikely by chance. What stays below
 * a level has that level for all of them together: at 0.01, one comparison of equal runs in a hundred
 * shows anything at all. Needs them ascending.
 */
void noise_correct(double *ascending, size_t nr);

#endif
