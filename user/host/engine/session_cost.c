// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <bpf/libbpf.h>
#include <errno.h>

#include "base/util.h"
#include "host/engine/program_cost.h"
#include "host/engine/session_state.h"

/* What the kernel says of the programs. */
static void read_kernels(const struct session *session, struct session_cost *result)
{
	const struct bpf_program *ticking = session->options.source == SOURCE_TICK ?
						    session_tick_program(session) :
						    session_clock_program(session);
	struct bpf_program *program;
	struct error ignored;

	bpf_object__for_each_program(program, session->skel->obj) {
		struct program_cost cost = { 0 };

		if (program_add_cost(bpf_program__fd(program), &cost, &ignored))
			continue;
		result->ns += cost.ns;
		if (program != ticking)
			continue;
		result->runs = cost.runs;
		result->ticking_ns = cost.ns;
	}
}

/* What they say themselves. */
static void read_watched(const struct session *session, struct session_cost *result)
{
	const struct cpu_account *account = session->cpu_accounts.at;
	const struct cpu_account *end = account + session->nr_cpus;

	for (; account < end; account++) {
		result->runs += __atomic_load_n(&account->watched_ticks, __ATOMIC_RELAXED);
		result->ticking_ns += __atomic_load_n(&account->ticking_ns, __ATOMIC_RELAXED);
		result->ns += __atomic_load_n(&account->following_ns, __ATOMIC_RELAXED);
	}
	result->ns += result->ticking_ns;
}

/* What is known now, and how long ticks have been wanted. */
static struct session_cost read_cost(const struct session *session)
{
	struct session_cost result = { .sampled_ns = session_sampled_ns(session),
				       .time_ns = monotonic_ns() };

	if (session->cost.stats_fd >= 0)
		read_kernels(session, &result);
	else
		read_watched(session, &result);
	return result;
}

/* Programs on perf's clock do not measure themselves. */
static int turn_on(struct session *session, struct error *err)
{
	struct session_costs *cost = &session->cost;

	cost->stats_fd = program_statistics(err);
	if (cost->stats_fd < 0 &&
	    (cost->stats_fd != -EPERM || session->options.source != SOURCE_TICK))
		return cost->stats_fd;
	session->skel->bss->cpu_time.watched = cost->stats_fd < 0;
	cost->base = read_cost(session);
	cost->known = cost->on = true;
	return 0;
}

static void turn_off(struct session *session)
{
	session->skel->bss->cpu_time.watched = false;
	close_fd(&session->cost.stats_fd);
	session->cost.on = false;
}

/* Where the cost stays unknown for want of a privilege, that is no reason not to sample. */
int session_begin_cost(struct session *session, struct error *err)
{
	int ret = turn_on(session, err);

	session->cost.turned_ns = monotonic_ns();
	return ret == -EPERM ? 0 : ret;
}

void session_cost_add(struct session_cost *sum, const struct session_cost *now,
		      const struct session_cost *last)
{
	sum->runs += now->runs - last->runs;
	sum->ticking_ns += now->ticking_ns - last->ticking_ns;
	sum->ns += now->ns - last->ns;
	sum->sampled_ns += now->sampled_ns - last->sampled_ns;
	sum->time_ns += now->time_ns - last->time_ns;
}

void session_cost(struct session *session, struct session_cost *result)
{
	const struct session_costs *cost = &session->cost;
	struct session_cost now;

	*result = cost->seen;
	if (!cost->known)
		return;
	if (!cost->on) {
		result->all_ns +=
			(uint64_t)(cost->share * (double)(monotonic_ns() - cost->turned_ns));
		return;
	}
	now = read_cost(session);
	session_cost_add(result, &now, &cost->base);
	result->all_ns += now.ns - cost->base.ns;
}

void session_measure(struct session *session, bool on)
{
	struct session_costs *cost = &session->cost;
	uint64_t now_ns = monotonic_ns(), before_ns = cost->seen.ns;
	struct error ignored;

	if (!cost->known || on == cost->on)
		return;
	session_cost(session, &cost->seen);
	if (on) {
		turn_on(session, &ignored);
	} else {
		turn_off(session);
		cost->share = (double)(cost->seen.ns - before_ns) /
			      (double)(now_ns - cost->turned_ns + 1);
	}
	cost->turned_ns = now_ns;
}
