/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_WEIGHT_BPF_H
#define BPFPROFIL_WEIGHT_BPF_H

/*
 * How many ticks a sample stands for, so that a thread's ticks add up to its runtime.
 *
 * A thread that keeps its CPU is sampled once a period, and each sample is one tick. A thread that
 * runs in short bursts is sampled less often than it runs, for two reasons. The interrupt that
 * samples also serves the timer that wakes a sleeper, which therefore runs just after the sample.
 * And while the kernel programs a timer to put the thread to sleep, which takes 15 to 20 us in a
 * VM, no interrupt samples it. If a hypervisor takes the CPU away, the opposite happens: the clock
 * runs and the thread does not.
 *
 * The scheduler's account of the thread (sum_exec_runtime) shows all of this. When a run has ended,
 * its samples are compared with it:
 *
 *     due += what the thread ran - samples * period
 *
 * What is due is spread over the next samples: each adds `step` to `accrued`, and when that reaches
 * a period, the sample counts as one tick more (or, below zero, as none).
 *
 * The account is exact for the moment when the thread last got a CPU. Within a run it is as old as
 * the scheduler's last tick: the true runtime is at least the account's, and at most one or two
 * such ticks more.
 */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "shared/weight.h"

/*
 * A step has 32 bits. A difference that is found within a run is spread over SPREAD_SAMPLES
 * samples.
 */
enum { STEP_MAX = 1 << 28, SPREAD_SAMPLES = 16 };

/*
 * A thread's runtime when it last got a CPU. Only the fair class updates it. In other classes the
 * value never changes, as if the thread had never left the CPU.
 */
static __always_inline u64 run_began(struct task_struct *task)
{
	return task->se.prev_sum_exec_runtime;
}

/*
 * The part of `due` that samples make up for. Even a clock that samples a thread as often as it
 * runs leaves up to a period over when a run ends, and more if runs are far apart. This remainder
 * decides when the next sample comes: a thread with a large remainder is sampled soon, and one with
 * a small remainder often ends before its next sample. Short programs of three runs had 1.12 times
 * their ticks when all of `due` was made up for. Therefore a part that may be chance is left out,
 * and this part shrinks as the thread's ticks add up.
 */
static __always_inline s64 beyond_chance(const struct weight *weight, s64 due, u64 period)
{
	s64 chance = 3 * period * (WEIGHT_SETTLED - weight->counted) / (2 * WEIGHT_SETTLED);

	if (due > chance)
		return due - chance;
	return due < -chance ? due + chance : 0;
}

/*
 * Spreads `due` over as many samples as the run had in which it arose. If one sample made up for
 * all of it, it would fall on the text that runs when a thread gets its CPU back, which may be the
 * same text each time. For a thread that is sampled more than once a run, `due` is what the clock
 * missed or counted too much, under a hypervisor perhaps a second. No text is to blame for that,
 * and therefore no sample makes up for more than a quarter of a period.
 */
static __always_inline void spread_due(struct weight *weight, u32 samples, u64 period)
{
	s64 due = beyond_chance(weight, weight->due, period);
	u64 size = due < 0 ? -due : due, most = samples > 1 ? period / 4 : STEP_MAX;

	size /= samples ?: 1;
	if (size > most)
		size = most;
	weight->step = due < 0 ? -(s32)size : (s32)size;
	weight->accrued = 0;
	weight->round = bpf_get_prandom_u32();
}

static __always_inline void begin_run(struct weight *weight, u64 run, u64 period)
{
	weight->due += (s64)(run - weight->base) - (s64)(weight->samples * period);
	spread_due(weight, weight->samples, period);
	weight->run = weight->base = run;
	weight->samples = 0;
}

/* Within a run something is due only if the account proves that the thread ran more, or less. */
static __always_inline void check_run(struct weight *weight, u64 runtime, u64 period, u64 lag)
{
	s64 more = (s64)(runtime - weight->base) - (s64)(weight->samples * period);

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
 * Returns the sample's own tick plus the whole periods that it makes up for. In all, samples make
 * up for no more than what is due. (When they continued until a whole tick was reached, processes
 * of two slices got 1.06 times their runtime.) A remainder counts as a whole period with a
 * probability equal to its size: a scheduler's slices are all of one length, and plain rounding
 * would always go the same way.
 */
static __always_inline u32 weight_due(struct weight *weight, u64 period)
{
	s64 taken = weight->accrued + weight->step, due, sum, more;
	bool all;
	u64 n;

	if (!weight->step)
		return 1;
	due = beyond_chance(weight, weight->due, period);
	all = weight->step < 0 ? taken <= due : taken >= due;
	if (all)
		taken = due;
	sum = taken + (s64)(weight->round * period >> 16) + (s64)period;
	n = sum > 0 ? (u64)sum / period : 0;
	if (n > WEIGHT_MAX)
		n = WEIGHT_MAX;
	more = (s64)(n * period) - (s64)period;
	taken -= more;
	due -= more;
	weight->due -= more;
	if (taken < -STEP_MAX || taken > STEP_MAX)
		taken = 0;
	weight->accrued = taken;
	if (all && due < (s64)period && due > -(s64)period)
		weight->step = 0;
	return n;
}

/*
 * The weight of a sample in the current thread. `lag` is the largest age of its account; 0: it is
 * unknown, and then a run's samples never count as too many.
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
	n = weight_due(weight, period);
	weight->counted += n;
	if (weight->counted > WEIGHT_SETTLED)
		weight->counted = WEIGHT_SETTLED;
	weight->samples++;
	return n;
}

/*
 * A time without ticks begins or ends. What a thread has run before it is still due after it; what
 * it runs meanwhile is not. The account of a running thread is on average half a scheduler tick
 * old.
 */
static __always_inline void weigh_around(struct weight *weight, struct task_struct *task,
					 u64 period, u64 lag, bool begins)
{
	u64 now = task->se.sum_exec_runtime + (task->on_cpu ? lag / 4 : 0);

	if (begins)
		weight->due += (s64)(now - weight->base) - (s64)(weight->samples * period);
	else
		spread_due(weight, SPREAD_SAMPLES, period);
	weight->run = run_began(task);
	weight->base = now;
	weight->samples = 0;
}

#endif
