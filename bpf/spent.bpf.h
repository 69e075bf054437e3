/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SPENT_BPF_H
#define BPFPROFIL_SPENT_BPF_H

/*
 * The CPU time that the scheduler gave to targets, from its own account of each thread
 * (sum_exec_runtime). It is read when a thread ends or moves to another target, and by a walk over
 * all threads before a profile is made. It costs nothing at a tick.
 */
#include "owner.bpf.h"
#include "room.bpf.h"
#include "split.bpf.h"

/* Charges an account to its task's owner. NULL: the owner may not have one more. */
static __always_inline struct owner *owner_of_split(struct task_struct *task,
						    struct spent_cpu *fresh)
{
	struct owner *owner;

	/* owner_of() would be one call too deep. */
	fresh->owner = owner_number(owner_key(user_of_task(task), task));
	owner = bpf_map_lookup_elem(&owners, &fresh->owner);
	if (!owner || !split_admitted(max_splits, table_state.splits_used, owner->splits))
		return NULL;
	return owner;
}

/*
 * Returns the account of a split, and makes it when the first of its runtime or ticks is counted.
 * NULL: there is no split, no memory, or no room for one more of its owner.
 */
static __noinline struct spent_cpu *spent_of(u32 target, u64 split_of, struct task_struct *task)
{
	struct spent_key key = { .split = split_of, .target = target };
	struct spent_cpu fresh = {}, *spent;
	struct owner *owner;

	if (split == SPLIT_NONE)
		return NULL;
	spent = bpf_map_lookup_elem(&spent_cpus, &key);
	if (spent)
		return spent;
	owner = owner_of_split(task, &fresh);
	if (!owner)
		return NULL;
	if (split == SPLIT_PROCESS)
		BPF_CORE_READ_INTO(&fresh.comm, task, group_leader, comm);
	else
		bpf_probe_read_kernel(fresh.comm, sizeof(fresh.comm), task->comm);
	if (!bpf_map_update_elem(&spent_cpus, &key, &fresh, BPF_NOEXIST)) {
		__sync_fetch_and_add(&owner->splits, 1);
		note_used(&table_state.splits_used, table_state.splits_low);
	}
	return bpf_map_lookup_elem(&spent_cpus, &key);
}

/* Counts n ticks of the current split that are in no bin. */
__noinline int note_unbinned(u32 target, u32 n)
{
	struct spent_cpu *spent = spent_of(target, split_id(), bpf_get_current_task_btf());

	if (spent)
		__sync_fetch_and_add(&spent->unbinned, n);
	return 0;
}

/*
 * The split of a tick of the current task. 0: there is none, or no memory for its account. Without
 * an account the ticks of a split would have no time at all.
 */
__noinline u64 tick_split(u32 target)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u64 id = split_id();

	if (!id || !spent_of(target, id, task))
		return 0;
	if (split == SPLIT_CGROUP)
		announce_cgroup(task, id);
	return id;
}

/*
 * A split gets the new name of its thread or process. Threads are named after they have started,
 * sometimes by other threads, and exec renames a process. The kernel calls this just before it sets
 * the name. The account is made here even if nothing was counted yet: otherwise a tick between the
 * two would note the old name.
 */
static __always_inline void rename_split(struct task_struct *task, const char *name,
					 struct follow *follow)
{
	struct spent_cpu *spent;

	if (!follow || follow->target == NO_TARGET ||
	    (split == SPLIT_PROCESS && task->pid != task->tgid))
		return;
	spent = spent_of(follow->target, task_split(task), task);
	if (spent)
		bpf_probe_read_kernel_str(spent->comm, sizeof(spent->comm), name);
}

enum { BILL_TRIES = 4 };

/*
 * Returns how much a sum of a thread has grown since the last call. Another CPU may call this at
 * the same time. The CPU that read the older sum must not set `billed` back, because nobody would
 * correct that after the thread's end.
 */
static __always_inline u64 bill(u64 *billed, u64 now)
{
	u64 before = *(volatile u64 *)billed, held;
	u32 i;

	for (i = 0; i < BILL_TRIES && now > before; i++) {
		held = __sync_val_compare_and_swap(billed, before, now);
		if (held == before)
			return now - before;
		before = held;
	}
	return 0;
}

/* Adds the ticks that a thread had in the kernel since the last call to its target's account. */
static __always_inline void settle_kernel(struct follow *follow, u32 target)
{
	u64 fresh = bill(&follow->kernel_billed, follow->kernel);
	struct target_account *account;

	if (!fresh)
		return;
	account = bpf_map_lookup_elem(&target_accounts, &target);
	if (account)
		__sync_fetch_and_add(&account->kernel, fresh);
}

/*
 * Adds a thread's runtime since the last call to the accounts. The thread may run meanwhile, and
 * another CPU may do the same: each adds only its difference, and the sum is right.
 */
static __noinline int settle_runtime(struct task_struct *task, struct follow *follow)
{
	u64 now = task->se.sum_exec_runtime, spent_ns;
	struct target_account *account;
	struct spent_key key = {};
	struct spent_cpu *spent;
	u32 target;

	if (!follow || follow->flags & FOLLOW_FROM_EXEC)
		return 0;
	if (cpu_time.kind == PASS_BEGIN) {
		follow->spent = now; /* nothing has been sampled before this */
		return 0;
	}
	if (cpu_time.kind == PASS_AWAIT && !(follow->flags & FOLLOW_EXITING))
		return 0; /* the thread runs on after the profile */
	target = follow->target;
	if (target == NO_TARGET)
		return 0; /* the thread is in no cgroup that is a target */
	spent_ns = bill(&follow->spent, now);
	settle_kernel(follow, target);
	if (split == SPLIT_CGROUP)
		announce_cgroup(task, follow->split);
	/* Threads that only sleep must not take the room of those that run. */
	key.split = follow->split;
	key.target = target;
	spent = spent_ns ? spent_of(target, follow->split, task) :
			   bpf_map_lookup_elem(&spent_cpus, &key);
	if (spent) {
		spent->pass = cpu_time.pass;
		__sync_fetch_and_add(&spent->ns, spent_ns);
		return 0;
	}
	account = bpf_map_lookup_elem(&target_accounts, &target);
	if (account)
		__sync_fetch_and_add(&account->cpu_ns, spent_ns);
	return 0;
}

/*
 * The runtime before a thread is first seen, which does not count; 0 if it began after the session.
 */
static __always_inline u64 runtime_before(struct task_struct *task)
{
	return task->start_time < cpu_time.since_ns ? task->se.sum_exec_runtime : 0;
}

#endif
