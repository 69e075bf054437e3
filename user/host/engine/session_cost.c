// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/engine/session_impl.h"

#include <bpf/libbpf.h>
#include <errno.h>

#include "base/util.h"
#include "host/engine/program_cost.h"

/* Reads the run time that the kernel measured for the programs. */
static void read_kernel_figures(const struct session *session, struct session_cost *result)
{
	const struct bpf_program *ticking = session_clock_program(session);
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

/*
 * Reads the programs' own measurements. Only the program on the scheduler's tick knows which of its
 * runs counted a tick: the kernel also measures its runs for other timers.
 */
static void read_own_figures(const struct session *session, struct session_cost *result)
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

static struct session_cost read_figures(const struct session *session)
{
	struct session_cost result = { .time_ns = monotonic_ns() }, by_kernel = { 0 };

	if (session->options.source == SOURCE_TICK)
		read_own_figures(session, &result);
	if (session->cost.stats_fd < 0)
		return result;
	read_kernel_figures(session, &by_kernel);
	result.ns = by_kernel.ns;
	if (session->options.source == SOURCE_CLOCK) {
		result.runs = by_kernel.runs;
		result.ticking_ns = by_kernel.ticking_ns;
	}
	return result;
}

/*
 * Without CAP_SYS_ADMIN, only programs on the scheduler's tick are measured: they measure
 * themselves.
 */
static int begin_measuring(struct session *session, struct error *err)
{
	struct cost_measurement *cost = &session->cost;

	cost->stats_fd = program_statistics(err);
	if (cost->stats_fd < 0 &&
	    (cost->stats_fd != -EPERM || session->options.source != SOURCE_TICK))
		return cost->stats_fd;
	session->skel->bss->cpu_time.watched = session->options.source == SOURCE_TICK;
	cost->base = read_figures(session);
	cost->known = cost->on = true;
	return 0;
}

static void end_measuring(struct session *session)
{
	session->skel->bss->cpu_time.watched = false;
	close_fd(&session->cost.stats_fd);
	session->cost.on = false;
}

int session_open_cost(struct session *session, struct error *err)
{
	int ret = begin_measuring(session, err);

	session->cost.switched_ns = monotonic_ns();
	return ret == -EPERM ? 0 : ret;
}

void session_cost_add_since(struct session_cost *sum, const struct session_cost *now,
			    const struct session_cost *last)
{
	sum->runs += now->runs - last->runs;
	sum->ticking_ns += now->ticking_ns - last->ticking_ns;
	sum->ns += now->ns - last->ns;
	sum->time_ns += now->time_ns - last->time_ns;
}

/* While measuring is off, all_ns is extrapolated from the last measurement. */
void session_cost(struct session *session, struct session_cost *result)
{
	const struct cost_measurement *cost = &session->cost;
	struct session_cost now;

	*result = cost->seen;
	if (!cost->known)
		return;
	if (!cost->on) {
		result->all_ns +=
			(uint64_t)(cost->share * (double)(monotonic_ns() - cost->switched_ns));
		return;
	}
	now = read_figures(session);
	session_cost_add_since(result, &now, &cost->base);
	result->all_ns += now.ns - cost->base.ns;
}

void session_measure_cost(struct session *session, bool on)
{
	struct cost_measurement *cost = &session->cost;
	uint64_t now_ns = monotonic_ns(), before_ns = cost->seen.ns;
	struct error ignored;

	if (!cost->known || on == cost->on)
		return;
	session_cost(session, &cost->seen);
	if (on) {
		begin_measuring(session, &ignored);
	} else {
		end_measuring(session);
		cost->share = (double)(cost->seen.ns - before_ns) /
			      (double)(now_ns - cost->switched_ns + 1);
	}
	cost->switched_ns = now_ns;
}
