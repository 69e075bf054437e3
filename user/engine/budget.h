/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_BUDGET_H
#define BPFPROFIL_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Which period a budget buys. Periods are those of a grid, four to an octave, so that a long run
 * that changes its mind knows few of them. None beats slowly against a scheduler's tick, as one would
 * of which a whole number make a millisecond.
 */
#define BUDGET_PERIOD_MIN UINT64_C(10700)
#define BUDGET_PERIOD_MAX UINT64_C(1000000000)

/* A tick's cost before the programs have run: an interrupt as measured and a handler as it may be. */
#define BUDGET_HANDLER_NS 2000.0

/*
 * The shortest period at which ticks of that cost stay within the budget, a share of a busy CPU in
 * per cent, with a sixth of it to spare; max_hz bounds it too. 0: not even the longest does.
 */
uint64_t budget_period(double percent, double tick_ns, double max_hz);

/* What ticks of that cost take, in per cent of a busy CPU. */
double budget_share(double tick_ns, uint64_t period_ns);

/*
 * The period to go on with; the same when it is not worth a change. A longer one is, as soon as the
 * budget is nearly used up; a shorter one when it is two steps of the grid, and settled: the last
 * change is long past.
 */
uint64_t budget_adapt(double percent, double tick_ns, double max_hz, uint64_t period_ns,
		      bool settled);

#endif
