/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SPENDING_H
#define BPFPROFIL_SPENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "engine/session.h"
#include "profile/profile.h"
#include "record/options.h"

/* --budget: what sampling takes of a CPU, and the rate that it buys. */

/*
 * Measures what a tick takes here, and fills in source and rate by it. Without a budget it does
 * nothing. Says what it chose unless -q. Takes 40 ms of two CPUs.
 */
int spending_choose(struct sampling_options *options, const char *command, struct error *err);

/* How the session has done, as it is watched while it runs. */
struct spending {
	const struct sampling_options *options;
	uint64_t period_ns;
	uint64_t due_ns; /* when to look again; 0: there is no budget */
	uint64_t changed_ns;
	struct session_cost last;
	struct profile_cost cost; /* handler_ns 0: not known yet */
};

/* session: what its programs took until now is no tick's; NULL: nothing yet. */
void spending_begin(struct spending *spending, const struct sampling_options *options,
		    struct session *session);

/*
 * Looks at what the programs took since the last time, when that is due, and returns the period to
 * go on with: the same, mostly.
 */
uint64_t spending_look(struct spending *spending, struct session *session);

/* What the programs took in a pause is no tick's. */
void spending_skip(struct spending *spending, struct session *session);

/* From here on there is that period. */
void spending_change(struct spending *spending, uint64_t period_ns);

/* For the profile, at an end. */
void spending_finish(struct spending *spending, struct session *session);

#endif
