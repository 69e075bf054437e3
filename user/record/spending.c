// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "record/spending.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/util.h"
#include "cost/calibrate.h"
#include "engine/budget.h"
#include "engine/sampler.h"
#include "engine/sched_tick.h"

#define LOOK_NS UINT64_C(1000000000)
#define REST_NS UINT64_C(9000000000)
#define SETTLED_NS UINT64_C(10000000000)

/* With fewer runs the cost of one is too uncertain. */
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
 * Whether the scheduler's tick is available and its programs stay within the budget, even at the
 * most that a run may take.
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

/*
 * On a host that is too busy to measure a tick's cost, the rate is chosen as if a tick were
 * expensive.
 */
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
		/* The user chose it, so its cost is only watched and reported. */
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

void spending_begin(struct spending *spending, const struct sampling_options *options,
		    struct session *session)
{
	*spending = (struct spending){
		.options = options,
		.period_ns = options->period_ns,
		.cost = { .budget_percent = options->budget_percent,
			  .interrupt_ns = options->interrupt_ns },
	};
	if (!options->budget_percent)
		return;
	if (session)
		session_cost(session, &spending->last);
	spending->changed_ns = monotonic_ns();
	spending->due_ns = spending->changed_ns + LOOK_NS;
}

/*
 * The cost of the programs for a tick on a busy CPU. The scheduler tick's program also runs for
 * other timers, and does not run on idle CPUs.
 */
static double handler_ns(const struct spending *spending, const struct session_cost *since)
{
	double run_ns = (double)since->ns / (double)since->runs, runs = 1;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (spending->options->source == SOURCE_TICK && cpus > 0 && since->sampled_ns)
		runs = (double)since->runs * (double)spending->period_ns /
		       ((double)since->sampled_ns * (double)cpus);
	return runs > 1 ? runs * run_ns : run_ns;
}

/* What ticks take of all the time. The budget itself is of the time that is sampled. */
static double share_now(const struct spending *spending)
{
	const struct profile_cost *cost = &spending->cost;
	double duty = spending->options->duty_percent;

	return budget_share(cost->interrupt_ns + cost->handler_ns, spending->period_ns) *
	       (duty > 0 ? duty / 100 : 1);
}

/* Returns whether there were enough runs to tell. */
static bool weigh(struct spending *spending, const struct session_cost *now, uint64_t runs)
{
	struct session_cost since = {
		.runs = now->runs - spending->last.runs,
		.ns = now->ns - spending->last.ns,
		.sampled_ns = now->sampled_ns - spending->last.sampled_ns,
	};
	struct profile_cost *cost = &spending->cost;

	if (since.runs < runs)
		return false;
	cost->handler_ns = handler_ns(spending, &since);
	cost->percent = share_now(spending);
	since.ns -= spending->off_ns;
	spending->tick_ns = cost->interrupt_ns + handler_ns(spending, &since);
	spending->last = *now;
	spending->off_ns = 0;
	return true;
}

/*
 * The rate of the scheduler's tick is what it is, so that its cost is only reported: a second in ten
 * tells it.
 */
static void look_at_tick(struct spending *spending, struct session *session)
{
	struct session_cost now;

	if (spending->resting) {
		session_measure(session, true);
		spending->resting = false;
		return;
	}
	session_cost(session, &now);
	if (!weigh(spending, &now, LOOK_RUNS))
		return;
	session_measure(session, false);
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
	return budget_adapt(spending->options->budget_percent, spending->tick_ns, sampler_max_hz(),
			    spending->period_ns, now_ns >= spending->changed_ns + SETTLED_NS);
}

void spending_skip(struct spending *spending, struct session *session)
{
	if (spending->due_ns)
		session_cost(session, &spending->last);
	spending->off_ns = 0;
}

void spending_mute(struct spending *spending, struct session *session, bool muted)
{
	struct session_cost now;

	if (!spending->due_ns)
		return;
	session_cost(session, &now);
	if (muted)
		spending->mute_ns = now.ns;
	else
		spending->off_ns += now.ns - spending->mute_ns;
}

void spending_change(struct spending *spending, uint64_t period_ns)
{
	spending->period_ns = period_ns;
	spending->changed_ns = monotonic_ns();
	spending->cost.percent = share_now(spending);
}

void spending_finish(struct spending *spending, struct session *session)
{
	struct session_cost now;

	if (!spending->due_ns)
		return;
	session_cost(session, &now);
	/* A few runs are only used if there is no better figure. */
	weigh(spending, &now, spending->cost.handler_ns > 0 ? LOOK_RUNS : 1);
}
