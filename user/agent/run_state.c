// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The state that an agent saves for the next one, and what it does with the state of the last one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/timerfd.h>

#include "agent/run.h"
#include "base/output.h"
#include "base/util.h"
#include "profile/profile_head.h"

/*
 * Leave out cgroups that kubelet is about to name: until then they would count as another service.
 */
static void leave_out_nameless(struct identities *identities, struct profile *times)
{
	size_t from, to = 0;

	for (from = 0; from < times->nr_splits; from++) {
		struct profile_split *split = &times->splits[from];

		if (identities_find(identities, split->cgroup)->complete) {
			times->splits[to++] = *split;
			continue;
		}
		times->targets[split->target].cpu_ns -= split->cpu_ns;
		profile_split_free(split);
	}
	times->nr_splits = to;
}

/* Updates the counters of CPU time. Returns how many ticks the next part will have at least. */
static uint64_t read_times(struct run *run)
{
	struct profile *times = NULL;
	struct error ignored;
	uint64_t ticks = 0;

	if (session_times(run->loop.session, &times, &ticks, &ignored))
		return 0;
	leave_out_nameless(run->agent->identities, times);
	if (!choice_label(&run->options->choice, times))
		figures_read(&run->agent->figures, times);
	profile_free(times);
	return ticks;
}

/*
 * Save before anybody reads: if the next agent began with smaller counters, it would look
 * restarted. Read the cgroups' usage before the session's times, in the order in which a session
 * begins, so that the time between the two readings cancels out.
 */
void run_save_state(struct run *run)
{
	struct agent *agent = run->agent;
	struct state *state = &agent->state;

	if (state->fd >= 0)
		usages_read(&state->usages, &agent->cgroups);
	state->ticks = read_times(run);
	state->parts_ticks = agent->parts_ticks;
	state->until_ns = monotonic_ns();
	state->has_duty = true;
	state->duty_percent = run->loop.spending.duty_percent;
	state_count_sinks(state, agent->sinks, agent->nr_sinks);
	state_save(state, &agent->figures);
}

/*
 * A killed agent loses what it counted after its last save. With hundreds of cgroups a save takes
 * some 20 ms, mostly to read their cpu.stat. Saves are therefore limited to a thousandth of a CPU,
 * except for those before scrapes.
 */
#define SAVE_LEAST_NS (5 * SECOND_NS)
#define SAVE_MOST_NS (60 * SECOND_NS)
#define SAVE_SHARE 1000

void run_plan_save(const struct run *run, uint64_t took_ns)
{
	uint64_t wait_ns = SAVE_SHARE * took_ns;
	struct itimerspec when = { 0 };

	if (run->save_fd < 0)
		return;
	wait_ns = wait_ns < SAVE_LEAST_NS ? SAVE_LEAST_NS : wait_ns;
	wait_ns = wait_ns > SAVE_MOST_NS ? SAVE_MOST_NS : wait_ns;
	when.it_value = timespec_of(wait_ns);
	timerfd_settime(run->save_fd, 0, &when, NULL);
}

void run_save_shown(struct run *run)
{
	uint64_t before_ns = thread_cpu_ns();

	pthread_mutex_lock(&run->agent->figures.shown);
	run_save_state(run);
	pthread_mutex_unlock(&run->agent->figures.shown);
	run_plan_save(run, thread_cpu_ns() - before_ns);
}

/* CPU time of cgroups between the last reading and this session; NULL: unknown. */
static struct profile *spent_meanwhile(struct run *run)
{
	struct agent *agent = run->agent;
	struct profile *times = NULL;
	struct usages now = { 0 };
	struct error ignored;
	uint64_t ticks;

	/* Only version 2 has this usage. */
	if (!agent->state.usages.nr || run->targets.controller ||
	    run->options->sampling.split != SPLIT_CGROUP)
		return NULL;
	usages_read(&now, &agent->cgroups);
	if (!session_times(run->loop.session, &times, &ticks, &ignored) &&
	    (usages_spent(&agent->state.usages, &now, &run->options->choice, times) ||
	     choice_label(&run->options->choice, times))) {
		profile_free(times);
		times = NULL;
	}
	usages_free(&now);
	return times;
}

void run_find_unsampled(struct run *run)
{
	uint64_t begin_ns = session_since_ns(run->loop.session);
	struct agent *agent = run->agent;
	struct state *state = &agent->state;
	struct profile *spent;

	if (state->until_ns && state->until_ns < begin_ns) {
		spent = spent_meanwhile(run);
		agent->unsampled_ns += begin_ns - state->cut_ns;
		figures_add_unsampled(&agent->figures, begin_ns - state->until_ns, spent);
		profile_free(spent);
	}
}

/* Counts as lost the ticks of an agent that could not make its last profile. */
void run_count_killed(struct agent *agent)
{
	const struct state *state = &agent->state;
	uint64_t all = state->ticks + state->parts_ticks;
	char seconds[32] = "";
	size_t i;

	if (!all)
		return;
	figures_lose(&agent->figures, state->ticks);
	for (i = 0; i < agent->nr_sinks; i++)
		sink_lose(agent->sinks[i], all);
	/* After a restart of the host it is unknown. */
	if (state->until_ns)
		snprintf(seconds, sizeof(seconds), " of %.1f s",
			 (double)(state->until_ns - state->cut_ns) / 1e9);
	print_message(NULL, "agent: the last one was killed: %" PRIu64 " ticks%s are in no profile",
		      all, seconds);
}
