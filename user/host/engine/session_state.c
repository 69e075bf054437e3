// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/engine/session_impl.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/timerfd.h>

#include "base/util.h"
#include "host/engine/session.h"

const char *const tick_source_words[] = { [SOURCE_CLOCK] = "clock", [SOURCE_TICK] = "tick", NULL };
const char *const tick_mode_words[] = { [MODE_AT_USER_PC] = "charged",
					[MODE_USER_ONLY] = "user",
					[MODE_KERNEL_APART] = "split",
					NULL };

const char *const split_words[] = { [SPLIT_NONE] = "none",
				    [SPLIT_PROCESS] = "process",
				    [SPLIT_CGROUP] = "cgroup",
				    [SPLIT_THREAD] = "thread",
				    NULL };

/* Whether mappings are cached by thread, because a process alone does not determine them. */
static bool by_thread(const struct session *session)
{
	return session->by_cgroup || session->options.split == SPLIT_THREAD;
}

/*
 * Each source has two programs, and two that count callers. One for the clock is always loaded, for
 * CPUs without a tick.
 */
struct bpf_program *session_clock_program(const struct session *session)
{
	struct host_bpf *skel = session->skel;

	if (session->options.callers)
		return by_thread(session) ? skel->progs.profil_callers_cgroup :
					    skel->progs.profil_callers;
	return by_thread(session) ? skel->progs.profil_tick_cgroup : skel->progs.profil_tick;
}

struct bpf_program *session_tick_program(const struct session *session)
{
	struct host_bpf *skel = session->skel;

	if (session->options.callers)
		return by_thread(session) ? skel->progs.profil_sched_callers_cgroup :
					    skel->progs.profil_sched_callers;
	return by_thread(session) ? skel->progs.profil_sched_tick_cgroup :
				    skel->progs.profil_sched_tick;
}

void session_wake_at(struct session *session, uint64_t when)
{
	const struct itimerspec until = { .it_value = timespec_of(when) };

	if (session->wake_ns && session->wake_ns <= when)
		return;
	session->wake_ns = when;
	timerfd_settime(session->wake_fd, TFD_TIMER_ABSTIME, &until, NULL);
}

struct counted session_counted(struct session *session)
{
	return (struct counted){
		.ranges = session->ranges.at,
		.cpus = session->cpu_accounts.at,
		.nr_cpus = session->nr_cpus,
		.targets = session->target_accounts.at,
		.nr_targets = session->nr_targets,
		.callers = session->options.callers,
	};
}

uint64_t session_until_ns(const struct session *session)
{
	if (session->times.stop_ns)
		return session->times.stop_ns;
	return session->times.paused_ns ? session->times.paused_ns : monotonic_ns();
}

struct timespec session_time(const struct session *session, uint64_t at_ns)
{
	const struct wall_clock now = wall_clock_read();
	struct wall_clock clock = session->times.clock;

	wall_clock_follow(&clock, &now);
	return wall_clock_at(&clock, at_ns);
}

struct wall_clock session_clock(const struct session *session)
{
	return session->times.clock;
}

void session_set_clock(struct session *session, const struct wall_clock *clock)
{
	session->times.clock = *clock;
}

uint64_t session_since_ns(const struct session *session)
{
	return session->times.since_ns;
}

/* --- the kernel's map of announced files, processes and cgroups ------------------------------- */

void session_announce_again(struct session *session, const struct space *space)
{
	const uint32_t unopened = SPACE_UNOPENED;

	bpf_map_update_elem(bpf_map__fd(session->skel->maps.spaces), space, &unopened, BPF_EXIST);
	__atomic_fetch_add(&session->halves.state->epoch, 1, __ATOMIC_RELEASE);
}

bool session_forget_announced(struct session *session, const struct space *space)
{
	const bool done = !bpf_map_delete_elem(bpf_map__fd(session->skel->maps.spaces), space);

	__atomic_fetch_add(&session->halves.state->epoch, 1, __ATOMIC_RELEASE);
	return done;
}

void session_classify(struct session *session, struct split_name *name)
{
	const struct space space = cgroup_space(name->id);
	uint32_t state;

	if (!session->options.choose || name->state != SPACE_ANNOUNCED)
		return;
	name->state = state = session->options.choose(session->options.choose_context, name->name);
	bpf_map_update_elem(bpf_map__fd(session->skel->maps.spaces), &space, &state, BPF_EXIST);
}
