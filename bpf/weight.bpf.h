/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_WEIGHT_BPF_H
#define BPFPROFIL_WEIGHT_BPF_H

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
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "shared/weight.h"

/* A step is of 32 bits, and what a run was found to have goes along with so many samples. */
enum { STEP_MAX = 1 << 28, SPREAD_SAMPLES = 16 };

/*
 * A thread's runtime when it last got a CPU. Only the fair class keeps it; for the others it stands
 * still, as if the thread had never left the CPU.
 */
static __always_inline u64 run_began(struct task_struct *task)
{
	return task->se.prev_sum_exec_runtime;
}

/*
 * What is due goes along with as many samples as the run had that it is of: taken at once, it would all
 * fall on the text that follows when a thread gets its CPU back, which turns of 4 ms and a program's
 * own pace may make the same again and again. Of a thread that is sampled more than once a run it is
 * what the clock missed or had too much, in a hypervisor's hands perhaps for a second: no text's fault,
 * and so no sample takes more than a part of a period.
 */
static __always_inline void spread_due(struct weight *weight, u32 samples, u64 period)
{
	s64 due = weight->due;
	u64 size = due < 0 ? -due : due, most = samples > 1 ? period / 4 : STEP_MAX;

	size /= samples ?: 1;
	if (size > most)
		size = most;
	weight->step = due < 0 ? -(s32)size : (s32)size;
	weight->taken = 0;
	weight->round = (u64)bpf_get_prandom_u32() * period >> 32;
}

static __always_inline void begin_run(struct weight *weight, u64 run, u64 period)
{
	weight->due += (s64)(run - weight->base) - (s64)(weight->ticked * period);
	spread_due(weight, weight->ticked, period);
	weight->run = weight->base = run;
	weight->ticked = 0;
}

/* Within a run there is something due when what is known of it says that it was surely more, or less. */
static __always_inline void check_run(struct weight *weight, u64 runtime, u64 period, u64 lag)
{
	s64 more = (s64)(runtime - weight->base) - (s64)(weight->ticked * period);

	if (more <= (s64)(period + period / 2)) {
		more += lag;
		if (more >= 0 || !lag)
			return;
	}
	weight->due += more;
	weight->base += more;
	spread_due(weight, SPREAD_SAMPLES, period);
}

/*
 * The sample's own tick, with the whole periods of what it takes along, which in all is what is due and
 * no more: steps that went on until a whole tick was taken gave processes of two slices 1.06 of their
 * runtime. What is left of a period counts as one by chance, as large as it is, for the slices of a
 * scheduler are all of one length and would be rounded to one side.
 */
static __always_inline u32 take_along(struct weight *weight, u64 period)
{
	s64 taken = weight->taken + weight->step, sum;
	bool all = weight->step < 0 ? taken <= weight->due : taken >= weight->due;
	u64 n;

	if (!weight->step)
		return 1;
	if (all)
		taken = weight->due;
	sum = taken + (s64)weight->round + (s64)period;
	n = sum > 0 ? (u64)sum / period : 0;
	if (n > WEIGHT_MAX)
		n = WEIGHT_MAX;
	taken += (s64)period - (s64)(n * period);
	weight->due += (s64)period - (s64)(n * period);
	if (taken < -STEP_MAX || taken > STEP_MAX)
		taken = 0;
	weight->taken = taken;
	if (all && weight->due < (s64)period && weight->due > -(s64)period)
		weight->step = 0;
	return n;
}

/*
 * Of a sample in the thread that runs. lag: how old its account may be, at most; 0: that is not known,
 * and samples are never too many within a run.
 */
static __always_inline u32 weigh_sample(struct weight *weight, struct task_struct *task, u64 period,
					u64 lag)
{
	u64 run = run_began(task);
	u32 n;

	if (weight->run == run)
		check_run(weight, task->se.sum_exec_runtime, period, lag);
	else
		begin_run(weight, run, period);
	n = take_along(weight, period);
	weight->ticked++;
	return n;
}

#endif
