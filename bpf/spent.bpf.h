/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SPENT_BPF_H
#define BPFPROFIL_SPENT_BPF_H

/*
 * The CPU time that the scheduler gave to targets, from its own account of each thread
 * (sum_exec_runtime). It is read when a thread ends, when it goes from one target to another, and
 * by a walk over all threads before a profile is made. It costs nothing at a tick.
 */
#include "maps.bpf.h"
#include "split.bpf.h"

/*
 * NULL: runtime is not told apart, or there is no memory. Inline, because 6.1 takes no key from
 * another function's stack.
 */
static __always_inline struct spent_cpu *spent_of(u32 target, u64 split_of)
{
	struct spent_key key = { .split = split_of, .target = target };
	struct spent_cpu fresh = {}, *spent;

	if (split == SPLIT_NONE)
		return NULL;
	spent = bpf_map_lookup_elem(&spent_cpus, &key);
	if (spent)
		return spent;
	bpf_map_update_elem(&spent_cpus, &key, &fresh, BPF_NOEXIST);
	return bpf_map_lookup_elem(&spent_cpus, &key);
}

/* Counts a tick that is in no bin for its process or cgroup. */
__noinline int spend_unbinned(u32 target, u32 n)
{
	struct spent_cpu *spent = spent_of(target, split_id());

	if (spent)
		__sync_fetch_and_add(&spent->unbinned, n);
	return 0;
}

/*
 * Adds a thread's runtime since the last call to the accounts. The thread may go on running
 * meanwhile, and another CPU may do the same; each adds what is new to it, which may be negative,
 * so the sum is right.
 */
static __noinline int settle_runtime(struct task_struct *task, struct follow *follow)
{
	u64 now = task->se.sum_exec_runtime, spent_ns;
	struct target_account *account;
	struct spent_cpu *spent;
	u32 target;

	if (!follow || follow->flags & FOLLOW_FROM_EXEC)
		return 0;
	if (cpu_time.kind == WALK_BEGIN) {
		follow->spent = now; /* nothing has been sampled before this */
		return 0;
	}
	if (cpu_time.kind == WALK_AWAIT && !(follow->flags & FOLLOW_EXITING))
		return 0; /* the thread goes on after the profile */
	target = follow->target;
	if (target == NO_TARGET)
		return 0; /* the thread is in no cgroup that is a target */
	spent_ns = now - __sync_lock_test_and_set(&follow->spent, now);
	spent = spent_of(target, follow->split);
	if (spent) {
		spent->walk = cpu_time.walk;
		__sync_fetch_and_add(&spent->ns, spent_ns);
		return 0;
	}
	account = bpf_map_lookup_elem(&target_accounts, &target);
	if (account)
		__sync_fetch_and_add(&account->cpu_ns, spent_ns);
	return 0;
}

/*
 * What a thread's runtime counts from when it is first seen: 0 if it began after the session did.
 */
static __always_inline u64 runtime_before(struct task_struct *task)
{
	return task->start_time < cpu_time.since_ns ? task->se.sum_exec_runtime : 0;
}

#endif
