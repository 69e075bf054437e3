// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "spread.h"

#include <math.h>
#include <stdlib.h>

#define TAIL 0.025

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static size_t drop_no_numbers(double *values, size_t nr)
{
	size_t i, kept = 0;

	for (i = 0; i < nr; i++)
		if (isfinite(values[i]))
			values[kept++] = values[i];
	return kept;
}

/*
 * How many values at either end are outside of the interval. Each value is on a given side of the
 * true median with probability 1/2. Therefore the chance that the k-th value is still beyond the
 * median is binomial.
 */
static size_t left_out(size_t nr)
{
	double term = pow(0.5, (double)nr), tail = term;
	size_t k;

	for (k = 0; 2 * (k + 1) < nr; k++) {
		term *= (double)(nr - k) / (double)(k + 1);
		tail += term;
		if (tail > TAIL)
			break;
	}
	return k;
}

struct spread spread_of(double *values, size_t nr)
{
	struct spread spread = { 0 };
	size_t k;

	nr = drop_no_numbers(values, nr);
	if (!nr)
		return spread;
	qsort(values, nr, sizeof(*values), compare_doubles);
	k = left_out(nr);
	spread.median = (values[(nr - 1) / 2] + values[nr / 2]) / 2;
	spread.low = values[k];
	spread.high = values[nr - 1 - k];
	spread.nr = nr;
	return spread;
}

struct change change_of(double *differences, size_t nr, double *noise, size_t nr_noise)
{
	struct spread nothing = spread_of(noise, nr_noise);
	struct change change = { .value = spread_of(differences, nr) };

	change.limit = fmax(fabs(nothing.low), fabs(nothing.high));
	change.resolved = change.value.low > 0 && change.value.median > change.limit;
	if (!change.resolved)
		change.limit = fmax(change.limit, change.value.high);
	return change;
}
