// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/record/spending.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/util.h"
#include "host/cost/cost.h"
#include "host/engine/sampler.h"
#include "host/engine/sched_tick.h"

#define STEPS_PER_OCTAVE 4

/*
 * Plan with this share of the budget, because measured costs are averages, and a host may get
 * busier.
 */
#define PLANNED 0.85

/* Above this share, choose a longer period. */
#define NEARLY_USED 0.95

/* Change only if this much more time, or this many more ticks, fit into the plan. */
#define WORTH 1.5

static uint64_t grid(int step)
{
	return (uint64_t)llround((double)BUDGET_PERIOD_MIN * exp2((double)step / STEPS_PER_OCTAVE));
}

double budget_share(double tick_ns, uint64_t period_ns)
{
	return 100 * tick_ns / (double)period_ns;
}

uint64_t budget_period(double percent, double tick_ns, double max_hz)
{
	uint64_t period;
	int step;

	for (step = 0; (period = grid(step)) <= BUDGET_PERIOD_MAX; step++)
		if (budget_share(tick_ns, period) <= PLANNED * percent &&
		    1e9 / (double)period <= max_hz)
			return period;
	return 0;
}

uint64_t budget_adapt(double percent, double tick_ns, double max_hz, uint64_t period_ns,
		      bool settled)
{
	uint64_t wanted = budget_period(percent, tick_ns, max_hz);

	if (!wanted)
		wanted = grid((int)(STEPS_PER_OCTAVE *
				    log2((double)BUDGET_PERIOD_MAX / (double)BUDGET_PERIOD_MIN)));
	if (wanted > period_ns)
		return budget_share(tick_ns, period_ns) > NEARLY_USED * percent ? wanted :
										  period_ns;
	if (settled && (double)wanted * exp2(1.9 / STEPS_PER_OCTAVE) < (double)period_ns)
		return wanted;
	return period_ns;
}

/*
 * The largest duty that is not above `most`, on a grid like that of the periods, with two digits.
 */
static double duty_below(double most)
{
	double duty = 100;
	int step;

	for (step = 1; duty > most && duty > BUDGET_DUTY_MIN; step++) {
		duty = 100 * exp2((double)-step / STEPS_PER_OCTAVE);
		duty = duty < 10 ? floor(10 * duty) / 10 : floor(duty);
	}
	return fmax(duty, BUDGET_DUTY_MIN);
}

double budget_duty(double percent, double fixed, double ticks, double now)
{
	double most = 100 * (PLANNED * percent - fixed) / fmax(ticks, 1e-9);

	if (fixed + ticks * now / 100 > NEARLY_USED * percent)
		return fmin(duty_below(most), now);
	return most >= WORTH * now ? duty_below(fmin(most, 2 * now)) : now;
}

#define LOOK_NS UINT64_C(1000000000)
#define REST_NS UINT64_C(9000000000)
#define SETTLED_NS UINT64_C(10000000000)

/*
 * At first all text is new to the programs. Therefore a tick takes several times as long as later.
 */
#define COLD_NS UINT64_C(5000000000)

/* With fewer runs, the cost of one is too uncertain. */
#define LOOK_RUNS 200

static void choose_clock(struct sampling_options *options, uint64_t period_ns)
{
	options->source = SOURCE_CLOCK;
	options->period_ns = period_ns;
	options->requested_hz = 1e9 / (double)period_ns;
	if (options->verbosity >= 0)
		fprintf(stderr,
			"budget of %.6g %%: %.4g Hz by the clock, whose interrupt takes %.1f us of a "
			"busy CPU here\n",
			options->budget_percent, options->requested_hz,
			options->interrupt_ns / 1000);
}

static void choose_tick(struct sampling_options *options)
{
	options->source = SOURCE_TICK;
	options->period_ns = sched_tick_period_ns();
	options->requested_hz = round(1e9 / (double)options->period_ns);
	options->interrupt_ns = 0;
	if (options->verbosity >= 0)
		fprintf(stderr,
			"budget of %.6g %%: the scheduler's tick, %.6g Hz, which takes no interrupt "
			"of ours\n",
			options->budget_percent, options->requested_hz);
}

/*
 * Whether the scheduler's tick is available, and its programs stay within the budget, even at the
 * highest cost of a run.
 */
static bool tick_fits(const struct sampling_options *options)
{
	struct sched_tick found;
	struct error ignored;

	return budget_share(BUDGET_HANDLER_NS, sched_tick_period_ns()) <= options->budget_percent &&
	       !sched_tick_find(&found, &ignored);
}

static int too_small(const struct sampling_options *options, const char *command, double tick_ns,
		     struct error *err)
{
	error_set(err, -ERANGE,
		  "%s: --budget %.6g: one tick a second takes more: it costs %.1f us here", command,
		  options->budget_percent, tick_ns / 1000);
	error_hint(err, "--budget %.2g", 2 * budget_share(tick_ns, BUDGET_PERIOD_MAX));
	return -ERANGE;
}

/* If the host is too busy to measure the cost of a tick, assume an expensive one. */
static void measure_tick(struct sampling_options *options)
{
	options->interrupt_ns = calibrate_busy_tick_ns();
	if (options->interrupt_ns > 0)
		return;
	options->interrupt_ns = CALIBRATE_DEAREST_NS;
	if (options->verbosity >= 0)
		fprintf(stderr,
			"budget of %.6g %%: what an interrupt takes cannot be measured now, as the "
			"CPUs are busy: %.0f us are taken for it\n",
			options->budget_percent, options->interrupt_ns / 1000);
}

int spending_choose(struct sampling_options *options, const char *command, struct error *err)
{
	double tick_ns;
	uint64_t period;

	if (!options->budget_percent)
		return 0;
	if (options->source == SOURCE_TICK) {
		/* The user chose it. Therefore only watch and report its cost. */
		choose_tick(options);
		return 0;
	}
	measure_tick(options);
	tick_ns = options->interrupt_ns + BUDGET_HANDLER_NS;
	period = budget_period(options->budget_percent, tick_ns, sampler_max_hz());
	if (options->source == SOURCE_UNTOLD && (!period || period > sched_tick_period_ns()) &&
	    tick_fits(options)) {
		choose_tick(options);
		return 0;
	}
	if (!period)
		return too_small(options, command, tick_ns, err);
	choose_clock(options, period);
	return 0;
}

static double unless_all(double duty)
{
	return duty < 100 ? duty : 0;
}

void spending_begin(struct spending *spending, const struct sampling_options *options,
		    struct session *session)
{
	*spending = (struct spending){
		.options = options,
		.period_ns = options->period_ns,
		.duty_percent = options->duty_percent,
		.cost = { .budget_percent = options->budget_percent,
			  .interrupt_ns = options->interrupt_ns },
	};
	if (!options->budget_percent)
		return;
	if (session)
		session_cost(session, &spending->last);
	spending->changed_ns = monotonic_ns();
	spending->due_ns = spending->changed_ns + LOOK_NS;
	if (!options->adapt_duty || !session)
		return;
	session_measure_cost(session, false);
	spending->resting = true;
	spending->due_ns = spending->changed_ns + COLD_NS;
}

static double duty_of(const struct spending *spending)
{
	return spending->duty_percent > 0 ? spending->duty_percent : 100;
}

/* The cost of ticks in per cent, while they are on. */
static double ticking_percent(const struct spending *spending)
{
	return budget_share(spending->cost.interrupt_ns + spending->ticking_ns,
			    spending->period_ns);
}

/*
 * Sets the total cost: the other programs' cost applies all the time, that of ticks only to the
 * sampled part.
 */
static void update_cost(struct spending *spending)
{
	struct profile_cost *cost = &spending->cost;
	/* CPU time for each counted tick. */
	double time_ns = (double)spending->period_ns * 100 / duty_of(spending);

	cost->percent =
		cost->fixed_percent + 100 * (cost->interrupt_ns + spending->ticking_ns) / time_ns;
	cost->handler_ns = spending->ticking_ns + cost->fixed_percent * time_ns / 100;
}

/* The cost of a tick while ticks are on, for the clock's budget. */
static double tick_ns(const struct spending *spending)
{
	const struct profile_cost *cost = &spending->cost;

	return cost->interrupt_ns + spending->ticking_ns +
	       cost->fixed_percent / 100 * (double)spending->period_ns;
}

/* Returns whether there were enough runs to measure. */
static bool weigh(struct spending *spending, const struct session_cost *now, uint64_t runs)
{
	struct session_cost *seen = &spending->seen;
	double busy_ns;

	if (now->runs - spending->last.runs < runs)
		return false;
	if (!spending->options->adapt_duty)
		*seen = (struct session_cost){ 0 };
	session_cost_add_since(seen, now, &spending->last);
	spending->last = *now;
	if (!seen->runs || !seen->time_ns)
		return false;
	spending->ticking_ns = (double)seen->ticking_ns / (double)seen->runs;
	/* Each run stands for this much CPU time. */
	busy_ns = (double)seen->runs * (double)spending->period_ns * 100 / duty_of(spending);
	spending->cost.fixed_percent = 100 * (double)(seen->ns - seen->ticking_ns) / busy_ns;
	update_cost(spending);
	return true;
}

double spending_next_duty(struct spending *spending)
{
	const struct profile_cost *cost = &spending->cost;

	if (!spending->options->adapt_duty || !spending->seen.runs)
		return spending->duty_percent;
	spending->seen = (struct session_cost){ 0 };
	return unless_all(budget_duty(cost->budget_percent, cost->fixed_percent,
				      ticking_percent(spending), duty_of(spending)));
}

void spending_change_duty(struct spending *spending, double percent)
{
	spending->duty_percent = percent;
	update_cost(spending);
}

/*
 * The rate of the scheduler's tick is fixed. Therefore its cost only matters for the next profile:
 * one second in ten is enough to measure it.
 */
static void look_at_tick(struct spending *spending, struct session *session)
{
	struct session_cost now;

	if (spending->resting) {
		session_measure_cost(session, true);
		spending->resting = false;
		return;
	}
	session_cost(session, &now);
	if (!weigh(spending, &now, LOOK_RUNS))
		return;
	session_measure_cost(session, false);
	spending->resting = true;
	spending->due_ns += REST_NS;
}

uint64_t spending_look(struct spending *spending, struct session *session)
{
	uint64_t now_ns = monotonic_ns();
	struct session_cost now;

	if (!spending->due_ns || now_ns < spending->due_ns)
		return spending->period_ns;
	spending->due_ns = now_ns + LOOK_NS;
	if (spending->options->source == SOURCE_TICK) {
		look_at_tick(spending, session);
		return spending->period_ns;
	}
	session_cost(session, &now);
	if (!weigh(spending, &now, LOOK_RUNS))
		return spending->period_ns;
	return budget_adapt(spending->options->budget_percent, tick_ns(spending), sampler_max_hz(),
			    spending->period_ns, now_ns >= spending->changed_ns + SETTLED_NS);
}

void spending_skip(struct spending *spending, struct session *session)
{
	if (spending->due_ns)
		session_cost(session, &spending->last);
}

void spending_change(struct spending *spending, uint64_t period_ns)
{
	spending->period_ns = period_ns;
	spending->changed_ns = monotonic_ns();
	update_cost(spending);
}

void spending_finish(struct spending *spending, struct session *session)
{
	struct session_cost now;

	if (!spending->due_ns)
		return;
	session_cost(session, &now);
	/* Use a few runs only if there is no better figure. */
	weigh(spending, &now, spending->cost.handler_ns > 0 ? LOOK_RUNS : 1);
}
