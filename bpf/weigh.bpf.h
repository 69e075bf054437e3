/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_WEIGH_BPF_H
#define BPFPROFIL_WEIGH_BPF_H

/* The weights of samples of threads that are followed. */
#include "config.bpf.h"
#include "maps.bpf.h"
#include "source.bpf.h"
#include "weight.bpf.h"

/* For the variance of sums: the ticks of a sample that stands for several are not independent. */
static __noinline int note_excess(u32 target, u32 n)
{
	struct target_account *account = bpf_map_lookup_elem(&target_accounts, &target);

	if (account)
		__sync_fetch_and_add(&account->excess, (u64)n * (n - 1));
	return 0;
}

/* How many ticks a sample in the current thread stands for. */
__noinline u32 weigh(struct follow *follow)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u64 lag = is_tickless(bpf_get_smp_processor_id()) ? 0 : runtime_lag;
	u64 period = cpu_time.period_ns;
	u32 n;

	if (!follow || !period)
		return 1;
	n = weigh_sample(&follow->weight, task, period, lag);
	if (unweighted)
		return 1;
	if (n > 1)
		note_excess(follow->target, n);
	return n;
}

#endif
