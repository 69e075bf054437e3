/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_WEIGH_BPF_H
#define BPFPROFIL_WEIGH_BPF_H

/*
 * How many ticks a sample stands for, so that a thread's ticks add up to its runtime. One that keeps
 * its CPU is sampled once a period, and each sample is one tick. One that comes and goes is seen less
 * often than it runs: a sleeper's timer is served in our interrupt and wakes it just behind the
 * sample, and while the kernel programs a timer to put it to sleep, 15 to 20 us in a VM, no interrupt
 * comes that it would not have come in. And where a hypervisor holds the CPU, the clock runs on and
 * the thread does not. The scheduler's account of the thread (sum_exec_runtime) knows all that.
 *
 * What it was when the thread last got a CPU is exact. Within a run it is as old as the last tick of
 * the scheduler: less is known for sure, more by one such tick or two.
 */
#include "compat.bpf.h"
#include "config.bpf.h"
#include "maps.bpf.h"
#include "source.bpf.h"

/* For the variance of sums: samples that stand for more than one tick come together. */
static __noinline int note_excess(u32 target, u32 n)
{
	struct target_account *account = bpf_map_lookup_elem(&target_accounts, &target);

	if (account)
		__sync_fetch_and_add(&account->excess, (u64)n * (n - 1));
	return 0;
}

/* To the nearest, within what a sample may stand for. */
static __always_inline u32 whole_periods(s64 ns, u64 period)
{
	u64 n;

	if (ns <= 0)
		return 0;
	n = ((u64)ns + period / 2) / period;
	return n > WEIGHT_MAX ? WEIGHT_MAX : n;
}

/* The sample stands for the run itself, for a tick, and for what is due of the runs before. */
static __always_inline u32 weigh_run(struct weight *weight, u64 run, u64 period)
{
	u32 n;

	weight->due += (s64)(run - weight->base) - (s64)(weight->ticked * period);
	n = whole_periods(weight->due + (s64)period, period);
	weight->due += (s64)period - (s64)(n * period);
	weight->run = weight->base = run;
	weight->ticked = 1;
	return n;
}

/* A period more, unless what is known of the run says that it was surely more, or none. */
static __always_inline u32 weigh_within(struct weight *weight, u64 runtime, u64 period)
{
	s64 due = weight->due + (s64)(runtime - weight->base) - (s64)(weight->ticked * period);
	u32 n = 1;

	if (due > (s64)(period + period / 2))
		n = whole_periods(due, period);
	else if (due + (s64)runtime_lag <= 0 && !is_tickless(bpf_get_smp_processor_id()))
		n = 0;
	weight->ticked += n;
	return n;
}

/* Of a sample in the thread that runs. */
static __noinline u32 weigh(struct follow *follow, struct task_struct *task)
{
	u64 period = cpu_time.period_ns, run = run_began(task);
	u32 n;

	if (!follow || !period)
		return 1;
	if (follow->weight.run == run)
		n = weigh_within(&follow->weight, task->se.sum_exec_runtime, period);
	else
		n = weigh_run(&follow->weight, run, period);
	if (n > 1)
		note_excess(follow->target, n);
	return n;
}

#endif
