// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Computes what a tick costs from what was counted in the windows. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/util.h"
#include "bench/handler/cost_round.h"

/* The value of one round; NAN if it has none. */
typedef double round_value(const struct cost_round *round, double scale);

/* The rounds of a row, with room for two values of each. */
struct rounds {
	const struct cost_round *list;
	uint32_t nr;
	double *values;
	double *noise;
};

static double part(double a, double b)
{
	return b > 0 ? a / b : NAN;
}

/* The share of the program's CPU time that went in gaps. */
static double gaps(const struct cost_round *round, enum cost_window_kind kind)
{
	return part((double)round->load[kind].taken_ns, (double)round->load[kind].held_ns);
}

static double gaps_above(const struct cost_round *round, enum cost_window_kind kind, double scale)
{
	double without = (gaps(round, COST_BEFORE) + gaps(round, COST_AFTER)) / 2;

	return (gaps(round, kind) - without) * scale;
}

static double session_gaps(const struct cost_round *round, double scale)
{
	return gaps_above(round, COST_SESSION, scale);
}

static double empty_gaps(const struct cost_round *round, double scale)
{
	return gaps_above(round, COST_EMPTY, scale);
}

static double noise_gaps(const struct cost_round *round, double scale)
{
	return (gaps(round, COST_AFTER) - gaps(round, COST_BEFORE)) * scale;
}

static double speed(const struct cost_round *round, enum cost_window_kind kind)
{
	return part((double)round->load[kind].units, (double)round->load[kind].held_ns);
}

static double slower(const struct cost_round *round, double scale)
{
	double without = (speed(round, COST_BEFORE) + speed(round, COST_AFTER)) / 2;

	return (1 - part(speed(round, COST_SESSION), without)) * scale;
}

static double noise_slower(const struct cost_round *round, double scale)
{
	return (1 - part(speed(round, COST_AFTER), speed(round, COST_BEFORE))) * scale;
}

static double mean_ns(const struct cost_round *round, enum cost_window_kind kind)
{
	const struct program_cost *program = &round->program[kind];

	return part((double)program->ns, (double)program->runs);
}

static double empty_ns(const struct cost_round *round, double scale)
{
	(void)scale;
	return mean_ns(round, COST_EMPTY);
}

static double gross_ns(const struct cost_round *round, double scale)
{
	(void)scale;
	return mean_ns(round, COST_SESSION);
}

static double net_ns(const struct cost_round *round, double scale)
{
	(void)scale;
	return mean_ns(round, COST_SESSION) - mean_ns(round, COST_EMPTY);
}

/* The tracepoint runs for other timers too, so all its time is divided by the ticks among them. */
static double tick_gross_ns(const struct cost_round *round, double scale)
{
	(void)scale;
	return part((double)round->program[COST_SESSION].ns, (double)round->ticks);
}

static double tick_net_ns(const struct cost_round *round, double scale)
{
	const struct program_cost *program = &round->program[COST_SESSION];

	(void)scale;
	return part((double)program->ns - (double)program->runs * mean_ns(round, COST_EMPTY),
		    (double)round->ticks);
}

static struct spread spread(const struct rounds *rounds, round_value *value)
{
	uint32_t i;

	for (i = 0; i < rounds->nr; i++)
		rounds->values[i] = value(&rounds->list[i], 1);
	return spread_of(rounds->values, rounds->nr);
}

static struct change change(const struct rounds *rounds, round_value *value, round_value *noise,
			    double scale)
{
	uint32_t i;

	for (i = 0; i < rounds->nr; i++) {
		rounds->values[i] = value(&rounds->list[i], scale);
		rounds->noise[i] = noise(&rounds->list[i], scale);
	}
	return change_of(rounds->values, rounds->nr, rounds->noise, rounds->nr);
}

/* Returns the rate that these rounds had. */
static double ticks_of_rounds(const struct rounds *rounds, struct cost_row *row)
{
	uint64_t ticks = 0, held_ns = 0;
	uint32_t i;

	for (i = 0; i < rounds->nr; i++) {
		ticks += rounds->list[i].ticks;
		held_ns += rounds->list[i].load[COST_SESSION].held_ns;
	}
	row->ticks += ticks;
	row->held_ns += held_ns;
	row->delivered_hz = row->held_ns ? (double)row->ticks * 1e9 / (double)row->held_ns : 0;
	return held_ns ? (double)ticks * 1e9 / (double)held_ns : 0;
}

static void sum_up_kind(const struct rounds *rounds, enum cost_kind kind, struct cost_row *row)
{
	bool per_run = row->source == SOURCE_CLOCK;
	double hz = ticks_of_rounds(rounds, row);
	double tick_scale = hz > 0 ? 1e9 / hz : NAN;

	row->handler[kind] = (struct cost_handler){
		.gross_ns = spread(rounds, per_run ? gross_ns : tick_gross_ns),
		.empty_ns = spread(rounds, empty_ns),
		.net_ns = spread(rounds, per_run ? net_ns : tick_net_ns),
	};
	row->slower_percent[kind] = change(rounds, slower, noise_slower, 100);
	if (kind != COST_WARM)
		return;
	row->empty_percent = change(rounds, empty_gaps, noise_gaps, 100);
	row->taken_percent = change(rounds, session_gaps, noise_gaps, 100);
	row->empty_ns = change(rounds, empty_gaps, noise_gaps, tick_scale);
	row->taken_ns = change(rounds, session_gaps, noise_gaps, tick_scale);
}

int cost_rounds_sum_up(const struct cost_round *list, uint32_t nr, enum cost_kind kind,
		       struct cost_row *row, struct error *err)
{
	cleanup_free double *values = calloc(2 * (size_t)nr, sizeof(*values));
	const struct rounds rounds = { .list = list,
				       .nr = nr,
				       .values = values,
				       .noise = values + nr };

	if (!values)
		return error_errno(err, -ENOMEM, "bench: rounds");
	sum_up_kind(&rounds, kind, row);
	return 0;
}
