/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CALL_WEIGH_BPF_H
#define BPFPROFIL_CALL_WEIGH_BPF_H

/*
 * How many ticks one of the clock stands for, so that a thread's add up to its runtime by the
 * scheduler's accounts, whatever comes and goes beside it. Within a run, from when it gets a CPU to
 * when it leaves it, each is one, unless what is known of the run, which is as old as the scheduler's
 * last tick, is surely more: the clock stands still where a hypervisor holds the CPU. The first tick of a run also makes up for what the runs since the
 * last one had and were not ticked for, in whole periods, or for what they were ticked for and had
 * not: then it is none.
 */
#include "call_maps.bpf.h"
#include "compat.bpf.h"

/* What its ticks stand for follows: a thread that the call is new to has one at its first. */
static __always_inline void begin_weight(struct call_weight *weight, const struct call_ref *ref,
					 struct task_struct *task, u64 run, u64 period)
{
	u64 runtime = task->se.sum_exec_runtime;

	weight->call = *ref;
	weight->run = run;
	weight->due = 0;
	/* A run that was long before the call counts from here, as well as it is known. */
	weight->base = runtime - run > 2 * period ? runtime : run;
	weight->ticked = weight->base == run;
}

/* To the nearest, within what a tick may stand for. */
static __always_inline u32 whole_ticks(s64 ns, u64 period)
{
	u64 n = ns > 0 ? ((u64)ns + period / 2) / period : 0;

	return n > CALL_WEIGHT_MAX ? CALL_WEIGHT_MAX : n;
}

static __always_inline u32 weigh_call_tick(const struct call_ref *ref, struct task_struct *task,
					   u64 period)
{
	struct call_weight *weight;
	u64 run = run_began(task);
	s64 due;
	u32 n;

	weight = bpf_task_storage_get(&call_weights, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!weight || !period)
		return 1;
	if (weight->call.slot != ref->slot || weight->call.serial != ref->serial) {
		begin_weight(weight, ref, task, run, period);
		return 1;
	}
	due = weight->due - (s64)(weight->ticked * period);
	if (weight->run == run) {
		due += (s64)(task->se.sum_exec_runtime - weight->base);
		n = due > (s64)(period + period / 2) ? whole_ticks(due, period) : 1;
		weight->ticked += n;
		return n;
	}
	due += (s64)(run - weight->base) + (s64)period;
	n = whole_ticks(due, period);
	weight->due = due - (s64)(n * period);
	weight->run = weight->base = run;
	weight->ticked = 1;
	return n;
}

#endif
