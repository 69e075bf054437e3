/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_COST_ROUND_H
#define BPFPROFIL_COST_ROUND_H

#include <stdint.h>

#include "bench/handler/cost.h"
#include "bench/handler/cost_program.h"

/* How long a window is, and how long to wait before it, without and with a sampler. */
struct cost_plan {
	uint64_t window_ns;
	uint64_t settle_ns;
};

/*
 * A window is whole periods, from the middle of one to the middle of another. The clock starts with
 * the sampler, so any other window would have one tick too many or too few each time.
 */
struct cost_plan cost_plan(uint64_t period_ns);

/* How long one round of the plan takes. */
uint64_t cost_plan_ns(const struct cost_plan *plan);

enum cost_window_kind { COST_BEFORE, COST_SESSION, COST_AFTER, COST_EMPTY, COST_WINDOWS };

struct cost_round {
	struct cost_window load[COST_WINDOWS];
	struct program_cost program[COST_WINDOWS];
	uint64_t ticks; /* ticks of the session that hit the program */
};

/* What ticks, and the load that it samples. */
struct cost_bench {
	struct cost_load *load;
	struct session *session;
	struct empty_programs *empty;
	const struct cost_plan *plan;
	uint64_t period_ns;
};

int cost_round_warm_up(const struct cost_bench *bench, struct error *err);
int cost_round_run(const struct cost_bench *bench, struct cost_round *result, struct error *err);

/* Adds the rounds of one kind to a row; WARM must come first. */
int cost_rounds_sum_up(const struct cost_round *rounds, uint32_t nr, enum cost_kind kind,
		       struct cost_row *row, struct error *err);

#endif
