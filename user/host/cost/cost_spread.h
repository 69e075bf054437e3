/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_COST_SPREAD_H
#define BPFPROFIL_COST_SPREAD_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The median of what the rounds measured, and the interval that contains the true median 95 times
 * in 100, whatever the distribution: an outlier, of which a shared host has many, counts like any
 * other value. With fewer than SPREAD_LEAST values the interval goes from the lowest to the highest
 * and is less certain.
 */
enum { SPREAD_LEAST = 6 };

struct spread {
	double median, low, high;
	size_t nr; /* number of values; 0: nothing was measured, and the rest is 0 */
};

/* Sorts the values, and leaves out those that are NaN (a round without a tick). */
struct spread spread_of(double *values, size_t nr);

/*
 * A difference, and what the same measurement gives where there is none; a smaller difference
 * cannot be told from that.
 */
struct change {
	struct spread value;
	double limit; /* resolved: the least that could be; otherwise the true value is below it */
	bool resolved;
};

struct change change_of(double *differences, size_t nr, double *noise, size_t nr_noise);

#endif
