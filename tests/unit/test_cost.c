// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <math.h>

#include <criterion/criterion.h>

#include "host/cost/cost_round.h"
#include "host/cost/cost_spread.h"

static void near(double value, double expected)
{
	cr_expect_float_eq(value, expected, 1e-9 * fmax(1, fabs(expected)), "%.12g, not %.12g",
			   value, expected);
}

static void expect_spread(const struct spread *spread, double median, double low, double high)
{
	near(spread->median, median);
	near(spread->low, low);
	near(spread->high, high);
}

Test(cost, spread_of_few)
{
	double values[] = { 5, 1, 3 };
	struct spread spread = spread_of(values, 3);

	expect_spread(&spread, 3, 1, 5);
	cr_expect_eq(spread.nr, 3);
}

Test(cost, spread_of_nothing)
{
	double values[] = { NAN, INFINITY };
	struct spread spread = spread_of(values, 2);

	cr_expect_eq(spread.nr, 0);
	expect_spread(&spread, 0, 0, 0);
}

Test(cost, spread_leaves_out_what_is_no_number)
{
	double values[] = { NAN, 4, 2, NAN };
	struct spread spread = spread_of(values, 4);

	cr_expect_eq(spread.nr, 2);
	expect_spread(&spread, 3, 2, 4);
}

/*
 * The ranks are those in any table of the sign test at 5 %: 5 values have none, 6 the ends, 12 the
 * third, ...
 */
Test(cost, spread_ranks)
{
	static const struct {
		size_t nr;
		double low;
	} known[] = { { 1, 1 }, { 5, 1 },  { 6, 1 },  { 8, 1 },
		      { 9, 2 }, { 12, 3 }, { 20, 6 }, { 60, 22 } };
	double values[60];
	struct spread spread;
	size_t i, k;

	for (k = 0; k < sizeof(known) / sizeof(known[0]); k++) {
		for (i = 0; i < known[k].nr; i++)
			values[i] = (double)(known[k].nr - i);
		spread = spread_of(values, known[k].nr);
		expect_spread(&spread, (double)(known[k].nr + 1) / 2, known[k].low,
			      (double)known[k].nr + 1 - known[k].low);
	}
}

Test(cost, change_resolved)
{
	double values[] = { 1.1, 0.9, 1.0 }, noise[] = { -0.2, 0.1, 0 };
	struct change change = change_of(values, 3, noise, 3);

	cr_expect(change.resolved);
	near(change.value.median, 1);
	near(change.limit, 0.2);
}

/*
 * A change that is within the noise, and one that is not surely above 0, whose upper end is the
 * limit.
 */
Test(cost, change_not_resolved)
{
	double small[] = { 0.05, 0.1, 0.12 }, noise[] = { -0.2, 0.1, 0 };
	double unsure[] = { -0.1, 0.5, 0.6 }, other[] = { -0.2, 0.1, 0 };
	struct change change = change_of(small, 3, noise, 3);

	cr_expect_not(change.resolved);
	near(change.limit, 0.2);
	change = change_of(unsure, 3, other, 3);
	cr_expect_not(change.resolved);
	near(change.limit, 0.6);
}

/* A window goes from the middle of one period to the middle of another. */
Test(cost, plan_is_whole_periods)
{
	static const uint64_t periods[] = { 20408163, 10101010, 4000000, 1003009, 250000, 100000 };
	struct cost_plan plan;
	size_t i;

	for (i = 0; i < sizeof(periods) / sizeof(periods[0]); i++) {
		plan = cost_plan(periods[i]);
		cr_expect_eq(plan.window_ns % periods[i], 0);
		cr_expect_eq(plan.settle_ns % periods[i], periods[i] / 2);
		cr_expect_gt(plan.window_ns, 35000000);
		cr_expect_lt(plan.window_ns, 90000000);
	}
	cr_expect_gt(cost_plan(2000000000).window_ns, 0);
	cr_expect_eq(cost_plan(0).window_ns, 0);
}

/* A second in which the host takes 1 %, a tick 10 us and its handler 0.3 us, at 1,000 Hz. */
static void make_round(struct cost_round *round)
{
	static const uint64_t taken_ns[COST_WINDOWS] = { 10000000, 20300000, 10000000, 20000000 };
	int i;

	*round = (struct cost_round){ .ticks = 1000 };
	for (i = 0; i < COST_WINDOWS; i++)
		round->load[i] = (struct cost_window){ .units = 2000000 - taken_ns[i] / 100,
						       .held_ns = 1000000000,
						       .taken_ns = taken_ns[i] };
	round->program[COST_SESSION] = (struct program_cost){ .runs = 1000, .ns = 350000 };
	round->program[COST_EMPTY] = (struct program_cost){ .runs = 1000, .ns = 50000 };
}

static void sum_up(struct cost_row *row, struct cost_round *rounds, uint32_t nr,
		   enum cost_kind kind)
{
	struct error err;

	cr_assert_eq(cost_rounds_sum_up(rounds, nr, kind, row, &err), 0);
}

Test(cost, rounds_of_the_clock)
{
	struct cost_row row = { .source = SOURCE_CLOCK };
	struct cost_round rounds[3];
	int i;

	for (i = 0; i < 3; i++)
		make_round(&rounds[i]);
	sum_up(&row, rounds, 3, COST_WARM);
	near(row.delivered_hz, 1000.);
	near(row.empty_percent.value.median, 1.);
	near(row.taken_percent.value.median, 1.03);
	near(row.empty_ns.value.median, 10000.);
	near(row.taken_ns.value.median, 10300.);
	cr_expect(row.taken_ns.resolved);
	near(row.handler[COST_WARM].gross_ns.median, 350.);
	near(row.handler[COST_WARM].empty_ns.median, 50.);
	near(row.handler[COST_WARM].net_ns.median, 300.);
	near(row.slower_percent[COST_WARM].value.median, 100 * 103000. / 1900000);
	sum_up(&row, rounds, 3, COST_COLD);
	cr_expect_eq(row.ticks, 6000);
	near(row.delivered_hz, 1000.);
	near(row.handler[COST_COLD].net_ns.median, 300.);
}

/* Of 5,000 runs 1,000 are ticks, and the others are part of the ticks' cost. */
Test(cost, rounds_of_the_tick)
{
	struct cost_row row = { .source = SOURCE_TICK };
	struct cost_round round;

	make_round(&round);
	round.program[COST_SESSION] = (struct program_cost){ .runs = 5000, .ns = 600000 };
	round.program[COST_EMPTY] = (struct program_cost){ .runs = 5000, .ns = 200000 };
	sum_up(&row, &round, 1, COST_WARM);
	near(row.handler[COST_WARM].gross_ns.median, 600.);
	near(row.handler[COST_WARM].empty_ns.median, 40.);
	near(row.handler[COST_WARM].net_ns.median, 400.);
}

/* Rounds in which no tick came are left out. */
Test(cost, rounds_without_a_tick)
{
	struct cost_row row = { .source = SOURCE_CLOCK };
	struct cost_round round;

	make_round(&round);
	round.ticks = 0;
	round.program[COST_SESSION] = (struct program_cost){ 0 };
	sum_up(&row, &round, 1, COST_WARM);
	near(row.delivered_hz, 0.);
	cr_expect_eq(row.handler[COST_WARM].net_ns.nr, 0);
	cr_expect_eq(row.empty_ns.value.nr, 0);
	cr_expect_not(row.empty_ns.resolved);
	cr_expect_eq(row.taken_percent.value.nr, 1);
}
