/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_BUDGET_H
#define BPFPROFIL_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Which sampling period a budget allows. Periods are on a grid of four to an octave, so that a long
 * run that adapts uses few of them. None of them beats slowly against a scheduler tick, as a period
 * would of which a whole number make a millisecond.
 */
#define BUDGET_PERIOD_MIN UINT64_C(10700)
#define BUDGET_PERIOD_MAX UINT64_C(1000000000)

/*
 * A tick's assumed cost before the programs have run: the measured cost of an interrupt, plus this
 * for the handler.
 */
#define BUDGET_HANDLER_NS 2000.0

/*
 * The shortest period at which ticks of that cost take at most the budget, which is in per cent of
 * a busy CPU, with a sixth to spare; max_hz limits it too. 0: even the longest period costs more.
 */
uint64_t budget_period(double percent, double tick_ns, double max_hz);

/* The cost of such ticks in per cent of a busy CPU. */
double budget_share(double tick_ns, uint64_t period_ns);

/*
 * The period to go on with, which is the same one unless a change is worth it. A longer period is
 * worth it as soon as the budget is nearly used up; a shorter one if it is two steps of the grid
 * away and settled is true, which means that the last change is long past.
 */
uint64_t budget_adapt(double percent, double tick_ns, double max_hz, uint64_t period_ns,
		      bool settled);

/*
 * The smallest duty that a budget leads to. Of 250 ticks a second it leaves 25, which is what other
 * agents take; with 1 of a hundred most containers of a storm had no tick.
 */
#define BUDGET_DUTY_MIN 10.0

/*
 * How much of the time to sample next, in per cent, where a tick's rate is not ours to choose. Of a
 * busy CPU sampling would take `ticks` per cent all the time, and `fixed` whatever the duty. It is
 * now: nearly the whole budget must be used before it is lowered, and much be left before it is
 * raised, to twice as much at most.
 */
double budget_duty(double percent, double fixed, double ticks, double now);

#endif
