/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SPENDING_H
#define BPFPROFIL_SPENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "host/engine/session.h"
#include "host/record/options.h"
#include "profile/profile.h"

/* --budget: how much of a CPU sampling takes, and which rate the budget allows. */

/*
 * Measures what a tick costs here, chooses source and rate by it, and says what it chose unless -q.
 * Without a budget it does nothing. It takes 40 ms of two CPUs.
 */
int spending_choose(struct sampling_options *options, const char *command, struct error *err);

/* The cost of the session, watched while it runs. */
struct spending {
	const struct sampling_options *options;
	uint64_t period_ns;
	double duty_percent; /* how much of the time is sampled; 0: all */
	uint64_t due_ns; /* when to look again; 0: there is no budget */
	uint64_t changed_ns;
	bool resting; /* nothing is measured at the moment */
	struct session_cost last;
	struct session_cost seen; /* in the last look, or since the duty was decided */
	double ticking_ns; /* what the program on the tick takes for one */
	struct profile_cost cost; /* handler_ns 0: not known yet */
};

/*
 * Begins to watch session: what its programs have taken so far does not count. session NULL: they
 * have taken nothing yet.
 */
void spending_begin(struct spending *spending, const struct sampling_options *options,
		    struct session *session);

/*
 * If it is due, looks at what the programs took since the last time. Returns the period to go on
 * with, which is usually the same.
 */
uint64_t spending_look(struct spending *spending, struct session *session);

/* What the programs took during a pause does not count. */
void spending_skip(struct spending *spending, struct session *session);

/* The duty_percent for the next profile: what the budget allows by what was seen in this one. */
double spending_next_duty(struct spending *spending);

/* From here on the period is period_ns. */
void spending_change(struct spending *spending, uint64_t period_ns);

/* From here on so much of the time is sampled. */
void spending_change_duty(struct spending *spending, double percent);

/* Completes the cost for a profile that ends here. */
void spending_finish(struct spending *spending, struct session *session);

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
