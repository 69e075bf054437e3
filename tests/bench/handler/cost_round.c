// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "bench/handler/cost_round.h"

#include "host/engine/session_impl.h"

#define SLOW_PERIOD_NS 2000000
#define SLOW_WINDOW_NS 80000000
#define FAST_WINDOW_NS 40000000
#define SETTLE_NS 2000000

static uint64_t periods(uint64_t ns, uint64_t period_ns)
{
	return period_ns ? (ns + period_ns / 2) / period_ns : 0;
}

struct cost_plan cost_plan(uint64_t period_ns)
{
	uint64_t window_ns = period_ns > SLOW_PERIOD_NS ? SLOW_WINDOW_NS : FAST_WINDOW_NS;
	uint64_t whole = periods(window_ns, period_ns) ?: 1;

	return (struct cost_plan){
		.window_ns = whole * period_ns,
		.settle_ns = periods(SETTLE_NS, period_ns) * period_ns + period_ns / 2,
	};
}

uint64_t cost_plan_ns(const struct cost_plan *plan)
{
	return COST_WINDOWS * plan->window_ns + 2 * plan->settle_ns + 2 * SETTLE_NS;
}

static int let_tick(const struct cost_bench *bench, enum cost_window_kind kind, struct error *err)
{
	if (kind == COST_SESSION)
		return session_resume(bench->session, bench->period_ns, err);
	if (kind == COST_EMPTY)
		return sampler_start(&bench->empty->sampler, &bench->empty->programs, err);
	return 0;
}

static int end_ticking(const struct cost_bench *bench, enum cost_window_kind kind,
		       struct error *err)
{
	if (kind == COST_EMPTY)
		sampler_stop(&bench->empty->sampler);
	if (kind != COST_SESSION)
		return 0;
	session_pause(bench->session);
	return session_poll(bench->session, err);
}

struct cost_reading {
	struct program_cost program;
	uint64_t ticks;
};

/*
 * Does the same work in each window, even where nothing ticks, so that it does not tell them apart.
 */
static int read_counts(const struct cost_bench *bench, enum cost_window_kind kind,
		       struct cost_reading *result, struct error *err)
{
	struct sampler_programs session = bench->session->sampler.programs;
	struct session_live live;

	session_live(bench->session, &live);
	result->ticks = live.total;
	return program_cost(kind == COST_EMPTY ? &bench->empty->programs : &session,
			    &result->program, err);
}

/*
 * Measures one window. Counts are read while it ticks, as long after the window's end as after its
 * beginning: if both were read outside of the window, they would include ticks of a longer time.
 */
static int measure_window(const struct cost_bench *bench, enum cost_window_kind kind,
			  struct cost_round *round, struct error *err)
{
	struct cost_reading before, after;
	int ret;

	cost_load_open(bench->load);
	ret = read_counts(bench, kind, &before, err);
	if (!ret)
		ret = cost_load_let(bench->load, bench->plan->window_ns, err);
	cost_load_close(bench->load);
	if (!ret)
		ret = read_counts(bench, kind, &after, err);
	if (!ret)
		ret = cost_load_collect(bench->load, &round->load[kind], err);
	if (ret)
		return ret;
	round->program[kind].runs = after.program.runs - before.program.runs;
	round->program[kind].ns = after.program.ns - before.program.ns;
	round->ticks += after.ticks - before.ticks;
	return 0;
}

static int run_window(const struct cost_bench *bench, enum cost_window_kind kind,
		      struct cost_round *round, struct error *err)
{
	bool ticks = kind == COST_SESSION || kind == COST_EMPTY;
	struct error *ending = err;
	struct error ignored;
	int ret, ended;

	ret = let_tick(bench, kind, err);
	if (!ret)
		ret = cost_load_let(bench->load, ticks ? bench->plan->settle_ns : SETTLE_NS, err);
	if (!ret)
		ret = measure_window(bench, kind, round, err);
	if (ret)
		ending = &ignored;
	ended = end_ticking(bench, kind, ending);
	return ret ?: ended;
}

int cost_round_run(const struct cost_bench *bench, struct cost_round *result, struct error *err)
{
	enum cost_window_kind kind;
	int ret = 0;

	*result = (struct cost_round){ 0 };
	for (kind = 0; kind < COST_WINDOWS && !ret; kind++)
		ret = run_window(bench, kind, result, err);
	return ret;
}

int cost_round_warm_up(const struct cost_bench *bench, struct error *err)
{
	struct cost_round round = { 0 };

	return run_window(bench, COST_SESSION, &round, err);
}
