/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_COST_SPREAD_H
#define BPFPROFIL_COST_SPREAD_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The median of what rounds measured, and the interval that holds the true one 95 times in 100,
 * whatever the distribution: an outlier, of which a shared host has many, is one value like any
 * other. Fewer than SPREAD_LEAST values hold it less often, and it is from the lowest to the highest.
 */
enum { SPREAD_LEAST = 6 };

struct spread {
	double median, low, high;
	size_t nr; /* values; 0: nothing was measured, and the rest is 0 */
};

/* Sorts the values. Those that are no number (a round without a tick) are left out. */
struct spread spread_of(double *values, size_t nr);

/*
 * A difference, and what the same measure says of no difference: nothing below that can be told
 * from it.
 */
struct change {
	struct spread value;
	double limit; /* resolved: the least that would be; else: the true value is below it */
	bool resolved;
};

struct change change_of(double *differences, size_t nr, double *noise, size_t nr_noise);

#endif
