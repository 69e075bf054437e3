// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "bench/handler/cost.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/util.h"
#include "bench/handler/cost_program.h"
#include "bench/handler/cost_round.h"
#include "host/engine/sched_tick.h"
#include "host/engine/session_impl.h"

#define MEMORY (64 << 20) /* the default of run */

struct cost {
	const struct cost_options *options;
	struct cost_report *report;
	struct cost_load load;
	int statistics_fd;
	struct session *session; /* of the current row */
	struct empty_programs empty;
	struct cost_round *rounds; /* of the current row and kind */
	uint64_t begin_ns;
};

static void set_rows(struct cost_row *rows)
{
	static const double rates[COST_ROWS - 1] = { 49, 99, 997, 4000, 10000 };
	size_t i;

	for (i = 0; i < COST_ROWS - 1; i++)
		rows[i] = (struct cost_row){ .source = SOURCE_CLOCK,
					     .requested_hz = rates[i],
					     .period_ns = (uint64_t)round(1e9 / rates[i]) };
	rows[i] = (struct cost_row){ .source = SOURCE_TICK, .period_ns = sched_tick_period_ns() };
	rows[i].requested_hz = rows[i].period_ns ? 1e9 / (double)rows[i].period_ns : 0;
}

static int open_row_session(struct cost *cost, const struct cost_row *row, struct error *err)
{
	const struct target target = { .kind = TARGET_PID, .name = "bench", .pid = cost->load.pid };
	const struct session_options options = {
		.source = row->source,
		.period_ns = row->period_ns,
		.requested_hz = row->requested_hz,
		.mode = MODE_AT_USER_PC,
		.memory = MEMORY,
		.unweighted = true,
		.targets = &target,
		.nr_targets = 1,
	};
	int ret = session_open(&options, &cost->session, err);

	if (!ret)
		ret = session_start(cost->session, err);
	if (!ret)
		session_pause(cost->session);
	return ret;
}

/*
 * Runs the rounds of one kind. The first one does not count, because its ticks find nothing in
 * place.
 */
static int run_rounds(struct cost *cost, const struct cost_row *row, struct error *err)
{
	struct cost_plan plan = cost_plan(row->period_ns);
	struct cost_bench bench = {
		.load = &cost->load,
		.session = cost->session,
		.empty = &cost->empty,
		.plan = &plan,
		.period_ns = row->period_ns,
	};
	uint32_t i;
	int ret;

	ret = cost_round_warm_up(&bench, err);
	for (i = 0; i < cost->options->rounds && !ret; i++) {
		ret = cost_round_run(&bench, &cost->rounds[i], err);
	}
	return ret;
}

static int measure_row(struct cost *cost, struct cost_row *row, struct error *err)
{
	struct sampler_programs programs = cost->session->sampler.programs;
	enum cost_kind kind;
	int ret;

	ret = empty_open(&cost->empty, &programs, row->period_ns, err);
	for (kind = 0; kind < COST_KINDS && !ret; kind++) {
		cost_load_choose(&cost->load, kind);
		ret = run_rounds(cost, row, err);
		if (!ret)
			ret = cost_rounds_sum_up(cost->rounds, cost->options->rounds, kind, row,
						 err);
	}
	return ret;
}

/* Whether the scheduler's tick can be used is only known after trying to open it. */
static bool may_skip(const struct cost_row *row, int failure)
{
	return row->source == SOURCE_TICK && failure && failure != -ENOMEM && failure != -EINTR;
}

static int run_row(struct cost *cost, struct cost_row *row, struct error *err)
{
	int ret;

	if (row->source == SOURCE_CLOCK && sampler_check_rate(row->requested_hz, &row->skipped))
		return 0;
	ret = open_row_session(cost, row, err);
	if (may_skip(row, ret))
		row->skipped = *err;
	else if (!ret)
		ret = measure_row(cost, row, err);
	if (!ret)
		row->kernel_bytes = program_memory();
	empty_close(&cost->empty);
	session_close(cost->session);
	cost->session = NULL;
	return row->skipped.text[0] ? 0 : ret;
}

static void sum_up_rows(struct cost *cost)
{
	struct rusage usage = { 0 };

	getrusage(RUSAGE_SELF, &usage);
	cost->report->peak_bytes = (uint64_t)usage.ru_maxrss * 1024;
	cost->report->duration_ns = monotonic_ns() - cost->begin_ns;
	cost->report->rounds = cost->options->rounds;
	cost->report->cpus = cost->load.threads;
}

static int run_rows(struct cost *cost, struct error *err)
{
	size_t i;
	int ret;

	cost->rounds = calloc(cost->options->rounds, sizeof(*cost->rounds));
	if (!cost->rounds)
		return error_errno(err, -ENOMEM, "bench: rounds");
	cost->statistics_fd = program_statistics(err);
	if (cost->statistics_fd < 0)
		return cost->statistics_fd;
	ret = cost_load_start(&cost->load, cost->options->stop_fd, err);
	for (i = 0; i < COST_ROWS && !ret; i++)
		ret = run_row(cost, &cost->report->rows[i], err);
	return ret;
}

int cost_measure(const struct cost_options *options, struct cost_report *result, struct error *err)
{
	struct cost cost = { .options = options,
			     .report = result,
			     .statistics_fd = -1,
			     .begin_ns = monotonic_ns() };
	int ret;

	memset(result, 0, sizeof(*result));
	set_rows(result->rows);
	ret = run_rows(&cost, err);
	if (!ret)
		sum_up_rows(&cost);
	cost_load_end(&cost.load);
	close_fd(&cost.statistics_fd);
	free(cost.rounds);
	return ret;
}
