// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/engine/budget.h"

#include <math.h>

#define STEPS_PER_OCTAVE 4

/*
 * The share of the budget that is planned with, because measured costs are means and a host may get
 * busier.
 */
#define PLANNED 0.85

/* Above this share a longer period is needed. */
#define NEARLY_USED 0.95

/* So much more of the time, or of ticks, must fit into what is planned with to be worth a change. */
#define WORTH 1.5

static uint64_t grid(int step)
{
	return (uint64_t)llround((double)BUDGET_PERIOD_MIN * exp2((double)step / STEPS_PER_OCTAVE));
}

double budget_share(double tick_ns, uint64_t period_ns)
{
	return 100 * tick_ns / (double)period_ns;
}

uint64_t budget_period(double percent, double tick_ns, double max_hz)
{
	uint64_t period;
	int step;

	for (step = 0; (period = grid(step)) <= BUDGET_PERIOD_MAX; step++)
		if (budget_share(tick_ns, period) <= PLANNED * percent &&
		    1e9 / (double)period <= max_hz)
			return period;
	return 0;
}

uint64_t budget_adapt(double percent, double tick_ns, double max_hz, uint64_t period_ns,
		      bool settled)
{
	uint64_t wanted = budget_period(percent, tick_ns, max_hz);

	if (!wanted)
		wanted = grid((int)(STEPS_PER_OCTAVE *
				    log2((double)BUDGET_PERIOD_MAX / (double)BUDGET_PERIOD_MIN)));
	if (wanted > period_ns)
		return budget_share(tick_ns, period_ns) > NEARLY_USED * percent ? wanted :
										  period_ns;
	if (settled && (double)wanted * exp2(1.9 / STEPS_PER_OCTAVE) < (double)period_ns)
		return wanted;
	return period_ns;
}

/* The largest duty of a grid like that of the periods, of two digits, that is not above most. */
static double duty_below(double most)
{
	double duty = 100;
	int step;

	for (step = 1; duty > most && duty > BUDGET_DUTY_MIN; step++) {
		duty = 100 * exp2((double)-step / STEPS_PER_OCTAVE);
		duty = duty < 10 ? floor(10 * duty) / 10 : floor(duty);
	}
	return fmax(duty, BUDGET_DUTY_MIN);
}

double budget_duty(double percent, double fixed, double ticks, double now)
{
	double most = 100 * (PLANNED * percent - fixed) / fmax(ticks, 1e-9);

	if (fixed + ticks * now / 100 > NEARLY_USED * percent)
		return fmin(duty_below(most), now);
	return most >= WORTH * now ? duty_below(fmin(most, 2 * now)) : now;
}
