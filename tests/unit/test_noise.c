// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "report/noise.h"

#include <criterion/criterion.h>
#include <math.h>

static double probability(double old, double old_total, double new, double new_total)
{
	const struct noise_counts counts = { old, old_total, new, new_total };

	return noise_probability(&counts);
}

static void expect_near(double value, double want)
{
	cr_expect(fabs(value - want) <= 5e-3 * want, "%g, not %g", value, want);
}

/*
 * By hand: 10 heads of 10 twice over; the only tick of a short run beside a run a thousand times
 * longer.
 */
Test(noise, few_ticks_by_the_binomial)
{
	expect_near(probability(0, 1000, 10, 1000), 2 / 1024.0);
	expect_near(probability(10, 1000, 0, 1000), 2 / 1024.0);
	expect_near(probability(1, 1, 0, 999), 2 / 1000.0);
	expect_near(probability(1, 1000, 9, 1000), 2 * 11 / 1024.0);
	cr_expect_eq(probability(5, 1000, 5, 1000), 1);
	cr_expect_eq(probability(0, 1000, 0, 1000), 1);
	cr_expect_eq(probability(0, 0, 5, 1000), 1);
}

/* 1.96 standard errors; and extreme numbers give no strange result. */
Test(noise, many_ticks_by_z)
{
	double error = sqrt(0.5 * 0.5 * 2 / 1e6);

	expect_near(probability(5e5 - 0.98 * error * 1e6, 1e6, 5e5 + 0.98 * error * 1e6, 1e6),
		    0.05);
	cr_expect_eq(probability(1e6, 1e6, 1e6, 1e6), 1);
	cr_expect_eq(probability(1e19, 1.8e19, 1e6, 1.8e19), 0);
}

Test(noise, holm)
{
	double p[] = { 0.001, 0.004, 0.003999 * 1.5, 0.9 };

	noise_correct(p, 4);
	expect_near(p[0], 0.004);
	expect_near(p[1], 0.012);
	expect_near(p[2], 0.012);
	expect_near(p[3], 0.9);
}
