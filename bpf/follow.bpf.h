/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_FOLLOW_BPF_H
#define BPFPROFIL_FOLLOW_BPF_H

/* Whose tick it is, and the ticks that must wait for their translation. */
#include "target.bpf.h"
#include "translate.bpf.h"

/*
 * The record of a task, or of its process for threads that the fork tracepoint does not show:
 * io_uring's workers are started without it.
 */
static __always_inline struct follow *follow_of(struct task_struct *task)
{
	struct follow *follow = bpf_task_storage_get(&follows, task, NULL, 0);

	if (follow)
		return follow;
	return bpf_task_storage_get(&follows, task->group_leader, NULL, 0);
}

/* By place, or not followed at all. */
static __always_inline bool found_by_place(const struct follow *follow)
{
	return (cgroup_wanted || system_target != NO_TARGET) &&
	       (!follow || follow->flags & FOLLOW_BY_PLACE);
}

/*
 * The address space that a task's pcs are of. While an exec is under way, which it is from before
 * the old one goes until its first pc is known, that cannot be told: 0.
 */
static __always_inline u64 settled_mm(struct task_struct *task)
{
	struct mm_struct *mm = task->mm;

	return mm && !BPF_CORE_READ_BITFIELD(task, in_execve) ? arch_mm_id(mm) : 0;
}

/* The record of a task at its first tick, or with the target of where it has gone since. */
static __always_inline struct follow *follow_by_place(struct task_struct *task)
{
	struct follow fresh = { .flags = FOLLOW_BY_PLACE }, *follow;
	u32 target = place_target(task);

	if (target == NO_TARGET)
		return NULL;
	follow = bpf_task_storage_get(&follows, task, NULL, 0);
	if (!follow) {
		fresh.mm = settled_mm(task);
		follow = bpf_task_storage_get(&follows, task, &fresh,
					      BPF_LOCAL_STORAGE_GET_F_CREATE);
	}
	if (follow)
		follow->target = target;
	return follow;
}

/* NULL: nobody's tick. A function of its own: the slow path's stack has no room for a record. */
static __noinline struct follow *follow_at_tick(struct task_struct *task)
{
	struct follow *follow = follow_of(task);

	return found_by_place(follow) ? follow_by_place(task) : follow;
}

/* Puts a tick off: true when there was a slot. Only the thread itself and its interrupts come here. */
static __always_inline bool defer(struct pending *slot, u64 pc, u32 target)
{
	if (slot->count && (slot->pc != pc || slot->target != target))
		return false;
	slot->pc = pc;
	slot->target = target;
	__sync_fetch_and_add(&slot->count, 1);
	return true;
}

static __always_inline void defer_busy(struct follow *follow, struct target_account *account,
				       u64 pc)
{
	u32 target = follow->target;

	if (!defer(&follow->pending[0], pc, target) && !defer(&follow->pending[1], pc, target))
		__sync_fetch_and_add(&account->lost[LOST_MAPPING_BUSY], 1);
	else
		__sync_fetch_and_add(&account->deferred, 1);
}

static __always_inline void defer_exec(struct follow *follow, struct target_account *account)
{
	/* The slot is another target's, if the task was moved in the midst of it. */
	if (!defer(&follow->exec, 0, follow->target))
		__sync_fetch_and_add(&account->lost[LOST_EXEC], 1);
	else
		__sync_fetch_and_add(&account->deferred, 1);
}

/* Takes the ticks of a slot: from here on they are filed, or lost by name. */
static __always_inline u32 take(struct pending *slot)
{
	u32 target = slot->target, n;
	struct target_account *account = bpf_map_lookup_elem(&target_accounts, &target);

	if (!account)
		return 0;
	n = __sync_lock_test_and_set(&slot->count, 0);
	__sync_fetch_and_add(&account->settled, n);
	return n;
}

/*
 * Files ticks put off in a mapping that a later tick has found. Looking for their own would not do:
 * the lock that bpf_find_vma took is not released before the interrupt returns, so a second call
 * in the same interrupt is always refused.
 */
static __always_inline void settle_within(struct pending *slot, struct mapping *mapping)
{
	struct xlat_entry entry = {};

	if (!slot->count || slot->pc - mapping->start >= mapping->end - mapping->start)
		return;
	mapping->pc = slot->pc;
	file_ticks(mapping, slot->target, take(slot), &entry);
}

/* Files what a slot holds, as if it fell at pc. Not from an interrupt. */
__noinline int settle(struct pending *slot, u64 pc)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct xlat_entry entry = {};
	struct mapping mapping;

	if (!slot || !slot->count)
		return 0;
	if (find_mapping(task, pc, &mapping) != -EBUSY)
		file_ticks(&mapping, slot->target, take(slot), &entry);
	return 0;
}

static __always_inline void settle_all(struct follow *follow)
{
	settle(&follow->pending[0], follow->pending[0].pc);
	settle(&follow->pending[1], follow->pending[1].pc);
}

#endif
