// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What the next agent goes on with, and what the last one has left. */
#include <inttypes.h>
#include <string.h>
#include <sys/timerfd.h>

#include "agent/run.h"
#include "base/output.h"
#include "base/util.h"
#include "profile/profile_head.h"

/* A cgroup whose name kubelet is about to give would be counted as another service until then. */
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

/* Brings the counters of CPU time up to date. Returns how many ticks the next part will have at least. */
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
 * Brings the counters up to date, and keeps them for the next agent before anybody reads them: one that began
 * with less would look like a new one. What cgroups have spent is read first, as it is when a session begins,
 * so that what lies between the two readings cancels out.
 */
void run_note_state(struct run *run)
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
 * What is counted until the next note is lost with an agent that is killed. With hundreds of cgroups a note takes
 * some 20 ms, most of it for their cpu.stat: notes take a thousandth of a CPU at most, but for those of scrapes.
 */
#define NOTE_LEAST_NS (5 * SECOND_NS)
#define NOTE_MOST_NS (60 * SECOND_NS)
#define NOTE_SHARE 1000

void run_plan_note(const struct run *run, uint64_t took_ns)
{
	uint64_t wait_ns = NOTE_SHARE * took_ns;
	struct itimerspec when = { 0 };

	if (run->note_fd < 0)
		return;
	wait_ns = wait_ns < NOTE_LEAST_NS ? NOTE_LEAST_NS : wait_ns;
	wait_ns = wait_ns > NOTE_MOST_NS ? NOTE_MOST_NS : wait_ns;
	when.it_value.tv_sec = (time_t)(wait_ns / SECOND_NS);
	when.it_value.tv_nsec = (long)(wait_ns % SECOND_NS);
	timerfd_settime(run->note_fd, 0, &when, NULL);
}

void run_note_shown(struct run *run)
{
	uint64_t before_ns = thread_cpu_ns();

	pthread_mutex_lock(&run->agent->figures.shown);
	run_note_state(run);
	pthread_mutex_unlock(&run->agent->figures.shown);
	run_plan_note(run, thread_cpu_ns() - before_ns);
}

/* What cgroups have spent since the last reading, and before this session; NULL: it is not known. */
static struct profile *spent_meanwhile(struct run *run)
{
	struct agent *agent = run->agent;
	struct profile *times = NULL;
	struct usages now = { 0 };
	struct error ignored;
	uint64_t ticks;

	/* Only version 2 keeps this account. */
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

/* What was not sampled since an earlier session, which may have been another agent's. */
void run_find_hole(struct run *run)
{
	uint64_t begin_ns = session_since_ns(run->loop.session);
	struct agent *agent = run->agent;
	struct state *state = &agent->state;
	struct profile *spent;

	if (state->until_ns && state->until_ns < begin_ns) {
		spent = spent_meanwhile(run);
		agent->hole_ns += begin_ns - state->cut_ns;
		figures_add_hole(&agent->figures, begin_ns - state->until_ns, spent);
		profile_free(spent);
	}
}

/* Ticks of an agent that had no time for its last profile. */
void run_count_killed(struct agent *agent)
{
	const struct state *state = &agent->state;
	uint64_t all = state->ticks + state->parts_ticks;
	size_t i;

	if (!all)
		return;
	figures_lose(&agent->figures, state->ticks);
	for (i = 0; i < agent->nr_sinks; i++)
		sink_lose(agent->sinks[i], all);
	print_message(NULL,
		      "agent: the last one was killed: %" PRIu64 " ticks of %.1f s are in no "
		      "profile",
		      all, (double)(state->until_ns - state->cut_ns) / 1e9);
}
