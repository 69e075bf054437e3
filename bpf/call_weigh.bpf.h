/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CALL_WEIGH_BPF_H
#define BPFPROFIL_CALL_WEIGH_BPF_H

/* The weights of samples of threads whose process has a call. */
#include "call_maps.bpf.h"
#include "weight.bpf.h"

/* A run that began long before the call counts from the call on, as exactly as that is known. */
static __always_inline void begin_weight(struct call_weight *weight, const struct call_ref *ref,
					 struct task_struct *task, u64 period)
{
	u64 run = run_began(task), runtime = task->se.sum_exec_runtime;

	weight->call = *ref;
	weight->weight = (struct weight){
		.run = run,
		.base = runtime - run > 2 * period ? runtime : run,
	};
}

static __always_inline u32 weigh_call_tick(const struct call_ref *ref, struct task_struct *task,
					   u64 period)
{
	struct call_weight *weight;

	weight = bpf_task_storage_get(&call_weights, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!weight || !period)
		return 1;
	if (weight->call.slot != ref->slot || weight->call.serial != ref->serial)
		begin_weight(weight, ref, task, period);
	return weigh_sample(&weight->weight, task, period, 0);
}

#endif
