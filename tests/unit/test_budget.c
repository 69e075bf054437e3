// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/record/spending.h"

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

static double cost_of(double fixed, double ticks, double duty)
{
	return fixed + ticks * duty / 100;
}

/* Of the time as much as the budget allows, from any duty, in one step down or in octaves up. */
Test(budget, the_duty_keeps_it)
{
	double percent, ticks, fixed, now, next;

	for (percent = 0.01; percent < 60; percent *= 1.7)
		for (ticks = 0.001; ticks < 60; ticks *= 1.3)
			for (fixed = 0; fixed < 0.8; fixed += 0.26)
				for (now = BUDGET_DUTY_MIN; now <= 100; now += 0.5) {
					next = budget_duty(percent, fixed * percent, ticks, now);
					cr_assert_geq(next, BUDGET_DUTY_MIN);
					cr_assert_leq(next, 100);
					cr_assert_leq(next, 2 * now);
					if (next > BUDGET_DUTY_MIN)
						cr_assert_leq(cost_of(fixed * percent, ticks, next),
							      0.95 * percent);
					if (next < now)
						cr_assert_gt(cost_of(fixed * percent, ticks, now),
							     0.95 * percent);
				}
	/* What fits is sampled: 0.1 % allow a third of 0.25 %. */
	cr_expect_eq(budget_duty(0.1, 0, 0.25, 100), 29);
	cr_expect_eq(budget_duty(0.1, 0.04, 0.25, 100), 17);
	cr_expect_eq(budget_duty(0.5, 0, 0.25, 100), 100);
	cr_expect_eq(budget_duty(0.5, 0.2, 0.25, 100), 100);
}

/* What no duty makes less is not answered by no ticks at all, nor by all the more of them. */
Test(budget, the_duty_has_a_floor)
{
	cr_expect_eq(budget_duty(0.1, 0.2, 0.25, 100), BUDGET_DUTY_MIN);
	cr_expect_eq(budget_duty(0.1, 0.2, 0.25, BUDGET_DUTY_MIN), BUDGET_DUTY_MIN);
	cr_expect_eq(budget_duty(0.1, 0.2, 0, 50), BUDGET_DUTY_MIN);
	cr_expect_eq(budget_duty(0.0001, 0, 5, 100), BUDGET_DUTY_MIN);
}

/* Costs that vary by a fifth do not move it, and it reaches all of the time again. */
Test(budget, the_duty_does_not_wander)
{
	static const double varied[] = { 1, 1.1, 0.9, 1.1, 0.85, 1.05, 0.95, 0.85, 1.1 };
	double first, duty, ticks;
	size_t i;

	for (ticks = 0.12; ticks < 8; ticks *= 1.03) {
		first = duty = budget_duty(0.1, 0, ticks, 100);
		for (i = 0; i < NR(varied); i++) {
			duty = budget_duty(0.1, 0, ticks * varied[i], duty);
			cr_assert_eq(duty, first, "%g %%: %g, then %g", ticks, first, duty);
		}
	}
	for (duty = BUDGET_DUTY_MIN, i = 0; duty < 100 && i < 20; i++)
		duty = budget_duty(0.1, 0.01, 0.05, duty);
	cr_expect_eq(duty, 100);
	cr_expect_leq(i, 8);
	/* From the duty below it, too. */
	cr_expect_eq(budget_duty(0.1, 0, 0.05, 84), 100);
}
