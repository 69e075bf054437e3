// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* How probable a difference of two samples is if what was sampled does not differ. */
#include "report/noise.h"

#include <math.h>

/*
 * If this many are expected on either side, the normal distribution's tail is exact enough for any
 * level we use.
 */
#define MANY 1000
#define NEGLIGIBLE 1e-17

/* If n ticks each belong to the old run with probability p: the log of P(k of them do). */
static double log_binomial(double n, double k, double p)
{
	return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log1p(-p);
}

/* P(k or fewer) of n; k is below the mean, so the terms decrease from k downwards. */
static double lower_tail(double n, double k, double p)
{
	double term = exp(log_binomial(n, k, p)), sum = 0;

	while (k >= 0 && term > sum * NEGLIGIBLE) {
		sum += term;
		term *= k / (n - k + 1) * (1 - p) / p;
		k--;
	}
	return sum;
}

static double exact_probability(double old, double new, double p)
{
	double n = old + new;
	double tail = old < n * p ? lower_tail(n, old, p) : lower_tail(n, new, 1 - p);

	return fmin(1, 2 * tail);
}

double noise_probability(const struct noise_counts *counts)
{
	double old = floor(counts->old), new = floor(counts->new), n = old + new;
	double old_total = counts->old_total, new_total = counts->new_total;
	double p = old_total / (old_total + new_total), pooled, error;

	if (n < 1 || old_total < 1 || new_total < 1)
		return 1;
	if (n * p < MANY || n * (1 - p) < MANY)
		return exact_probability(old, new, p);
	pooled = n / (old_total + new_total);
	if (pooled >= 1)
		return 1;
	error = sqrt(pooled * (1 - pooled) * (1 / old_total + 1 / new_total));
	return erfc(fabs(new / new_total - old / old_total) / error / sqrt(2));
}

double noise_of_times(double old, double old_variance, double new, double new_variance)
{
	double variance = old_variance + new_variance;

	return variance > 0 ? erfc(fabs(new - old) / sqrt(2 * variance)) : 1;
}

void noise_correct(double *ascending, size_t nr)
{
	double least = 0;
	size_t i;

	for (i = 0; i < nr; i++) {
		least = fmax(least, fmin(1, ascending[i] * (double)(nr - i)));
		ascending[i] = least;
	}
}
