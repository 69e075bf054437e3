// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <math.h>

#include <criterion/criterion.h>

#include "spread.h"

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

Test(spread, spread_of_few)
{
	double values[] = { 5, 1, 3 };
	struct spread spread = spread_of(values, 3);

	expect_spread(&spread, 3, 1, 5);
	cr_expect_eq(spread.nr, 3);
}

Test(spread, spread_of_nothing)
{
	double values[] = { NAN, INFINITY };
	struct spread spread = spread_of(values, 2);

	cr_expect_eq(spread.nr, 0);
	expect_spread(&spread, 0, 0, 0);
}

Test(spread, spread_leaves_out_what_is_no_number)
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
Test(spread, spread_ranks)
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

Test(spread, change_resolved)
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
Test(spread, change_not_resolved)
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
