/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_COST_ROUND_H
#define BPFPROFIL_COST_ROUND_H

#include <stdint.h>

#include "cost/cost.h"
#include "cost/cost_program.h"

/* How long a window is, and what is waited for before: nothing, or the sampler. */
struct cost_plan {
	uint64_t window_ns;
	uint64_t settle_ns;
};

/*
 * Whole periods, from the middle of one to the middle of another: the clock starts with the sampler,
 * and any other window would have a tick too many or too few each time.
 */
struct cost_plan cost_plan(uint64_t period_ns);

/* A round of it. */
uint64_t cost_plan_ns(const struct cost_plan *plan);

enum cost_window_kind { COST_BEFORE, COST_SESSION, COST_AFTER, COST_EMPTY, COST_WINDOWS };

struct cost_round {
	struct cost_window load[COST_WINDOWS];
	struct program_cost program[COST_WINDOWS];
	uint64_t ticks; /* of the session, that hit the program */
};

/* What ticks, on what. */
struct cost_bench {
	struct cost_load *load;
	struct session *session;
	struct empty_programs *empty;
	const struct cost_plan *plan;
	uint64_t period_ns;
};

int cost_round_warm_up(const struct cost_bench *bench, struct error *err);
int cost_round_run(const struct cost_bench *bench, struct cost_round *ret, struct error *err);

/* Adds one kind's rounds to a row; WARM first. */
int cost_rounds_sum_up(const struct cost_round *rounds, uint32_t nr, enum cost_kind kind,
		       struct cost_row *row, struct error *err);

#endif
