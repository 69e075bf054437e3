// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "engine/budget.h"

#include <criterion/criterion.h>
#include <math.h>

static const double percents[] = { 0.01, 0.1, 0.5, 1, 5, 50 };
static const double ticks_ns[] = { 300, 1200, 13000, 40000 };
#define NR(array) (sizeof(array) / sizeof(*(array)))

/*
 * It stays within the budget, and wastes less than a step of the grid plus the sixth that is
 * spared.
 */
Test(budget, the_shortest_period_within)
{
	size_t i, j;

	for (i = 0; i < NR(percents); i++)
		for (j = 0; j < NR(ticks_ns); j++) {
			uint64_t period = budget_period(percents[i], ticks_ns[j], INFINITY);
			double share = budget_share(ticks_ns[j], period);

			cr_assert_neq(period, 0, "%g %%, %g ns", percents[i], ticks_ns[j]);
			cr_expect_leq(share, 0.85 * percents[i]);
			if (period > BUDGET_PERIOD_MIN)
				cr_expect_geq(share, 0.71 * percents[i], "%g %% of %g %%", share,
					      percents[i]);
		}
}

Test(budget, a_rate_has_bounds)
{
	cr_expect_eq(budget_period(50, 1, INFINITY), BUDGET_PERIOD_MIN);
	cr_expect_leq(1e9 / (double)budget_period(50, 1, 25000), 25000);
	cr_expect_geq(1e9 / (double)budget_period(50, 1, 25000), 25000 / 1.2);
	/* One tick a second of 30 us is 0.003 %. */
	cr_expect_eq(budget_period(0.003, 30000, INFINITY), 0);
	cr_expect_neq(budget_period(0.004, 30000, INFINITY), 0);
	cr_expect_eq(budget_period(1, 1000, 0.5), 0);
}

/* A run of days uses few periods, none of which beats against a scheduler tick. */
Test(budget, periods_are_of_a_grid)
{
	static const uint64_t beats[] = { 1000000, 4000000, 10000000 };
	uint64_t last = 0, period;
	double tick;
	size_t i, nr = 0;

	for (tick = 50; tick < 1e7; tick *= 1.01) {
		period = budget_period(1, tick, INFINITY);
		if (period == last || !period)
			continue;
		for (i = 0; i < NR(beats); i++)
			cr_expect_neq(period % beats[i] == 0 || beats[i] % period == 0, true,
				      "%lu ns", period);
		last = period;
		nr++;
	}
	cr_expect_leq(nr, 67);
	cr_expect_geq(nr, 40);
}

Test(budget, longer_at_once_and_shorter_when_settled)
{
	uint64_t period = budget_period(1, 2000, INFINITY);

	/* The cost is as planned, so the period stays. */
	cr_expect_eq(budget_adapt(1, 2000, INFINITY, period, true), period);
	/* A tenth more uses up what was spared, but not the budget. */
	cr_expect_eq(budget_adapt(1, 2000 * 1.1, INFINITY, period, true), period);
	/* The budget is nearly used up. */
	cr_expect_gt(budget_adapt(1, 2000 * 1.4, INFINITY, period, false), period);
	cr_expect_leq(budget_share(2800, budget_adapt(1, 2800, INFINITY, period, false)), 0.85);
	/* If it gets cheaper the period does not change at once, nor for one step of the grid. */
	cr_expect_eq(budget_adapt(1, 1000, INFINITY, period, false), period);
	cr_expect_eq(budget_adapt(1, 2000 / 1.18, INFINITY, period, true), period);
	cr_expect_lt(budget_adapt(1, 1000, INFINITY, period, true), period);
	/* If no period is long enough, sampling is as rare as possible. */
	cr_expect_geq(budget_adapt(0.0001, 1e6, INFINITY, period, false), BUDGET_PERIOD_MAX / 2);
}
