/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SPENDING_H
#define BPFPROFIL_SPENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "host/engine/session.h"
#include "host/record/options.h"
#include "profile/profile.h"

/* --budget: measures the cost of sampling, and chooses a rate within the budget. */

/*
 * Measures the cost of a tick, chooses source and rate accordingly, and reports the choice unless
 * -q. Takes 40 ms of two CPUs. Does nothing without a budget.
 */
int spending_choose(struct sampling_options *options, const char *command, struct error *err);

/* The cost of a running session. */
struct spending {
	const struct sampling_options *options;
	uint64_t period_ns;
	double duty_percent; /* share of sampled time; 0: all */
	uint64_t due_ns; /* when to measure again; 0: no budget */
	uint64_t changed_ns;
	bool resting; /* measuring is off */
	struct session_cost last;
	struct session_cost seen; /* since the last look, or since the duty changed */
	double ticking_ns; /* cost of a tick's program */
	struct profile_cost cost; /* handler_ns 0: not measured yet */
};

/* Starts to watch session, ignoring earlier costs. session NULL: there are none yet. */
void spending_begin(struct spending *spending, const struct sampling_options *options,
		    struct session *session);

/*
 * If it is due, measures the cost since the last time. Returns the next period, which is usually
 * the same.
 */
uint64_t spending_look(struct spending *spending, struct session *session);

/* Ignores costs during a pause. */
void spending_skip(struct spending *spending, struct session *session);

/* The duty_percent for the next profile, by the cost of this one. */
double spending_next_duty(struct spending *spending);

void spending_change(struct spending *spending, uint64_t period_ns);

/* Changes the share of sampled time. */
void spending_change_duty(struct spending *spending, double percent);

/* Completes the cost of a profile that ends here. */
void spending_finish(struct spending *spending, struct session *session);

/*
 * The sampling period for a budget. Periods are on a grid of four per octave, so that a long
 * adaptive run uses few of them. None of them divides a millisecond, so that none beats slowly
 * against the scheduler's tick.
 */
#define BUDGET_PERIOD_MIN UINT64_C(10700)
#define BUDGET_PERIOD_MAX UINT64_C(1000000000)

/*
 * The assumed cost of a tick's program, before it has run. The measured cost of an interrupt is
 * added.
 */
#define BUDGET_HANDLER_NS 2000.0

/*
 * The shortest period at which ticks of that cost stay within the budget, in per cent of one busy
 * CPU, minus a reserve of a sixth. max_hz is another limit. 0: even the longest period costs more.
 */
uint64_t budget_period(double percent, double tick_ns, double max_hz);

/* The cost of such ticks in per cent of one busy CPU. */
double budget_share(double tick_ns, uint64_t period_ns);

/*
 * The next period, usually the same. A longer one is chosen as soon as the budget is nearly used
 * up. A shorter one is chosen if it is at least two steps shorter, and settled is true: the last
 * change was long ago.
 */
uint64_t budget_adapt(double percent, double tick_ns, double max_hz, uint64_t period_ns,
		      bool settled);

/*
 * The smallest duty for a budget. Of 250 ticks a second it leaves 25, like the rates of other
 * agents. With 1 % most containers of a storm had no tick.
 */
#define BUDGET_DUTY_MIN 10.0

/*
 * The next duty in per cent, if the tick's rate is fixed. Sampling all the time would cost `ticks`
 * per cent of a busy CPU, plus `fixed` at any duty. `now` is the current duty. It is lowered only
 * if nearly the whole budget is used, and raised only if much is left, at most to double.
 */
double budget_duty(double percent, double fixed, double ticks, double now);

#endif
