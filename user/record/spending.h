/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SPENDING_H
#define BPFPROFIL_SPENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "engine/session.h"
#include "profile/profile.h"
#include "record/options.h"

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
	uint64_t due_ns; /* when to look again; 0: there is no budget */
	uint64_t changed_ns;
	bool resting; /* nothing is measured at the moment */
	struct session_cost last;
	double tick_ns; /* what a tick takes while ticks are wanted: the budget is of that time */
	uint64_t off_ns; /* by --duty they are not: what other programs have taken since `last`, */
	uint64_t mute_ns; /* and what all had taken when that began */
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

/* --duty begins, or ends, a time without ticks. */
void spending_mute(struct spending *spending, struct session *session, bool muted);

/* From here on the period is period_ns. */
void spending_change(struct spending *spending, uint64_t period_ns);

/* Completes the cost for a profile that ends here. */
void spending_finish(struct spending *spending, struct session *session);

#endif
