/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_WEIGHT_BPF_H
#define BPFPROFIL_WEIGHT_BPF_H

/*
 * How many ticks a sample stands for, so that a thread's ticks add up to its runtime.
 *
 * A thread that keeps its CPU is sampled once a period, and each sample is one tick. A thread that
 * runs in short bursts is sampled less often, for two reasons. The interrupt that samples also
 * serves the timer that wakes a sleeper, which therefore runs just after the sample. And while the
 * kernel programs a timer to put the thread to sleep, no interrupt samples it. If a hypervisor uses
 * the CPU for others, the opposite happens: the clock runs and the thread does not.
 *
 * The scheduler's runtime of the thread (sum_exec_runtime) shows all of this. When a run has ended,
 * its samples are compared with that runtime:
 *
 *     due += the run's time - samples * period
 *
 * The due time is spread over the next samples. Each adds `step` to `accrued`, and when that
 * reaches a period, the sample counts as one tick more (or, below zero, as none).
 *
 * sum_exec_runtime is exact for the moment when the thread last got a CPU. Within a run it is as
 * old as the scheduler's last tick: the true runtime is at least that, and at most one or two such
 * ticks more.
 */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "shared/weight.h"

/*
 * STEP_MAX limits |step| and |accrued|, so that their sum fits in 32 bits. A difference that is
 * found within a run is spread over SPREAD_SAMPLES samples.
 */
enum { STEP_MAX = 1 << 28, SPREAD_SAMPLES = 16 };

/*
 * A thread's runtime when it last got a CPU. Only the fair class updates it. In other classes the
 * value never changes, as if the thread had never left the CPU.
 */
static __always_inline u64 runtime_at_run_begin(struct task_struct *task)
{
	return task->se.prev_sum_exec_runtime;
}

/*
 * Returns the part of `due` that is not chance. A run ends anywhere within a period, and up to a
 * period is always left over. If samples made up for that too, short programs would count too
 * often. The part that may be chance shrinks as the thread's ticks add up.
 */
static __always_inline s64 proven_due(const struct weight *weight, s64 due, u64 period)
{
	s64 chance = 3 * period * (WEIGHT_SETTLED - weight->counted) / (2 * WEIGHT_SETTLED);

	if (due > chance)
		return due - chance;
	return due < -chance ? due + chance : 0;
}

/*
 * Spreads `due`, from a run of n samples, over the next n. If one sample made up for all of it, the
 * text that runs when a thread gets its CPU back would get it, perhaps the same text each time. For
 * a thread that is sampled more than once a run, `due` is an error of the clock, under a hypervisor
 * perhaps a second, which no text has caused. Therefore no sample makes up for more than a quarter
 * of a period.
 */
static __always_inline void spread_due(struct weight *weight, u32 samples, u64 period)
{
	s64 due = proven_due(weight, weight->due, period);
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

/*
 * Within a run, time is due only if it cannot be chance. If the runtime exceeds the samples by more
 * than 1.5 periods, the thread ran more than its samples show. If it is behind them by more than
 * `lag`, the thread ran less. Anything between proves nothing.
 */
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
 * up for no more than what is due. A remainder counts as a whole period with a probability equal to
 * its size: a scheduler's slices are all of one length, and plain rounding would always go the same
 * way.
 *
 * For example, the period is 1000, `accrued` is 200 and `step` is 300. Then `share` is 500. `round`
 * is a random part of a period, in 1/65536. If it is at least half a period, `sum` reaches 2000: the
 * sample counts as two, `extra` is 1000, and -500 stay accrued. Otherwise the sample counts as one,
 * and 500 stay accrued.
 */
static __always_inline u32 weight_of_sample(struct weight *weight, u64 period)
{
	s64 share = weight->accrued + weight->step, due, sum, extra;
	bool is_last;
	u64 n;

	if (!weight->step)
		return 1;
	due = proven_due(weight, weight->due, period);
	is_last = weight->step < 0 ? share <= due : share >= due;
	if (is_last)
		share = due;
	sum = share + (s64)(weight->round * period >> 16) + (s64)period;
	n = sum > 0 ? (u64)sum / period : 0;
	if (n > WEIGHT_MAX)
		n = WEIGHT_MAX;
	extra = (s64)(n * period) - (s64)period;
	share -= extra;
	due -= extra;
	weight->due -= extra;
	if (share < -STEP_MAX || share > STEP_MAX)
		share = 0;
	weight->accrued = share;
	if (is_last && due < (s64)period && due > -(s64)period)
		weight->step = 0;
	return n;
}

/*
 * The weight of a sample in the current thread. `lag` is the largest age of sum_exec_runtime; 0: it
 * is unknown, and then a run's samples never count as too many.
 */
static __always_inline u32 weigh_sample(struct weight *weight, struct task_struct *task, u64 period,
					u64 lag)
{
	u64 run = runtime_at_run_begin(task);
	u32 n;

	if (weight->run == run)
		check_run(weight, task->se.sum_exec_runtime, period, lag);
	else
		begin_run(weight, run, period);
	n = weight_of_sample(weight, period);
	weight->counted += n;
	if (weight->counted > WEIGHT_SETTLED)
		weight->counted = WEIGHT_SETTLED;
	weight->samples++;
	return n;
}

/* The average age of a running thread's sum_exec_runtime: `lag` is two scheduler ticks. */
static __always_inline u64 average_age(u64 lag)
{
	return lag / 4;
}

/*
 * Is called when ticks stop, and when they start again. Runtime from before the stop stays due, and
 * runtime during it does not.
 */
static __always_inline void weigh_ticks_off(struct weight *weight, struct task_struct *task,
					    u64 period, u64 lag, bool off)
{
	u64 now = task->se.sum_exec_runtime + (task->on_cpu ? average_age(lag) : 0);

	if (off)
		weight->due += (s64)(now - weight->base) - (s64)(weight->samples * period);
	else
		spread_due(weight, SPREAD_SAMPLES, period);
	weight->run = runtime_at_run_begin(task);
	weight->base = now;
	weight->samples = 0;
}

#endif
