/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_SPREAD_H
#define TEST_SPREAD_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The median of the rounds, and the interval that contains the true median 95 times in 100,
 * whatever the distribution. An outlier counts like any other value; a shared host has many. With
 * fewer than SPREAD_LEAST values the interval goes from the lowest to the highest and is less
 * certain.
 */
enum { SPREAD_LEAST = 6 };

struct spread {
	double median, low, high;
	size_t nr; /* number of values; 0: nothing was measured, and the rest is 0 */
};

/* Sorts the values and leaves out NaNs (rounds without a tick). */
struct spread spread_of(double *values, size_t nr);

/*
 * A difference between two ways to run. The same measurement without a difference gives the noise,
 * and a smaller difference than the noise is not resolved.
 */
struct change {
	struct spread value;
	double limit; /* resolved: the lowest possible value; else: the true value is below it */
	bool resolved;
};

struct change change_of(double *differences, size_t nr, double *noise, size_t nr_noise);

#endif
