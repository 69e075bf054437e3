// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The probability that two samples of the same thing differ this much. */
#include "report/noise.h"

#include <math.h>

/*
 * With a larger variance, do not sum terms. The normal distribution's tails are within a fiftieth
 * of the exact ones there, even at a probability of 1e-6.
 */
#define MANY 1e6
#define NEGLIGIBLE 1e-17
#define LEAST 1e-300 /* smaller terms lose their digits */
#define TIE 1e-6 /* smaller differences of distances are rounding errors */

/*
 * Both totals are fixed, and so is the sum of hits. Only the old profile's part of the hits is
 * random, with a hypergeometric distribution.
 */
struct contingency {
	double old_total, new_total;
	double hits;
};

static double mean_of(const struct contingency *table)
{
	return table->hits * table->old_total / (table->old_total + table->new_total);
}

static double variance_of(const struct contingency *table)
{
	double all = table->old_total + table->new_total;

	return mean_of(table) * (table->new_total / all) * (1 - table->hits / all);
}

/* P(k) as a multiple of P(k - 1): infinite or 0 at the ends. */
static double ratio(const struct contingency *table, double k)
{
	return (table->old_total - k + 1) * (table->hits - k + 1) /
	       (k * (table->new_total - table->hits + k));
}

/* Sums of P(k), relative to the first P(k) of the walk. */
struct sums {
	double all;
	double far; /* at least as far as the observed distance, which counts by half */
};

static void add_term(struct sums *sums, double term, double beyond)
{
	sums->all += term;
	if (beyond > -TIE)
		sums->far += beyond > TIE ? term : term / 2;
}

/* Adds the terms on one side of k, by a step of 1 or -1, until the rest is negligible. */
static void add_side(const struct contingency *table, double k, int step, double distance,
		     struct sums *sums)
{
	double mean = mean_of(table), term = 1, beyond;

	do {
		term = step > 0 ? term * ratio(table, k + 1) : term / ratio(table, k);
		k += step;
		beyond = fabs(k - mean) - distance;
		add_term(sums, term, beyond);
	} while (term > LEAST && (beyond < TIE || term > sums->far * NEGLIGIBLE));
}

static double exact_probability(const struct contingency *table, double old)
{
	double mean = mean_of(table), distance = fabs(old - mean), middle = floor(mean);
	struct sums sums = { 0 };

	if (distance < TIE)
		return 1;
	add_term(&sums, 1, fabs(middle - mean) - distance);
	add_side(table, middle, -1, distance, &sums);
	add_side(table, middle, 1, distance, &sums);
	return sums.far / sums.all;
}

static double normal_probability(const struct contingency *table, double old)
{
	return erfc(fabs(old - mean_of(table)) / sqrt(2 * variance_of(table)));
}

/*
 * Turns the table so that it has the smaller total, and misses if they are fewer than hits. Then a
 * small variance means a small mean, and k is exact however large the totals are.
 */
static void make_small(struct contingency *table, double *old)
{
	double all = table->old_total + table->new_total, total = table->old_total;

	if (table->old_total > table->new_total) {
		*old = table->hits - *old;
		table->old_total = table->new_total;
		table->new_total = total;
	}
	if (table->hits > all / 2) {
		*old = table->old_total - *old;
		table->hits = all - table->hits;
	}
}

double noise_probability(const struct noise_counts *counts)
{
	double old = round(counts->old), new = round(counts->new);
	struct contingency table = { round(counts->old_total), round(counts->new_total),
				     old + new };

	if (table.old_total < 1 || table.new_total < 1 || old > table.old_total ||
	    new > table.new_total)
		return 1;
	make_small(&table, &old);
	if (table.hits < 1)
		return 1;
	return variance_of(&table) > MANY ? normal_probability(&table, old) :
					    exact_probability(&table, old);
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
