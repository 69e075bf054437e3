/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_FOLLOW_BPF_H
#define BPFPROFIL_FOLLOW_BPF_H

/* Whose tick it is, and the ticks that must wait for their translation. */
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

/* Puts a tick off: true when there was a slot. Only the thread itself and its interrupts come here. */
static __always_inline bool defer(struct pending *slot, u64 pc)
{
	if (slot->count && slot->pc != pc)
		return false;
	slot->pc = pc;
	__sync_fetch_and_add(&slot->count, 1);
	return true;
}

static __always_inline void defer_busy(struct follow *follow, struct target_account *account,
				       u64 pc)
{
	if (!defer(&follow->pending[0], pc) && !defer(&follow->pending[1], pc))
		__sync_fetch_and_add(&account->lost[LOST_MAPPING_BUSY], 1);
	else
		__sync_fetch_and_add(&account->deferred, 1);
}

/* Takes the ticks of a slot: from here on they are filed, or lost by name. */
static __always_inline u32 take(struct pending *slot, u32 target)
{
	struct target_account *account = bpf_map_lookup_elem(&target_accounts, &target);
	u32 n;

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
static __always_inline void settle_within(struct pending *slot, struct mapping *mapping, u32 target)
{
	struct xlat_entry entry = {};

	if (!slot->count || slot->pc - mapping->start >= mapping->end - mapping->start)
		return;
	mapping->pc = slot->pc;
	file_ticks(mapping, target, take(slot, target), &entry);
}

/* Files what a slot holds, as if it fell at pc. Not from an interrupt. */
__noinline int settle(struct pending *slot, u64 pc, u32 target)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct xlat_entry entry = {};
	struct mapping mapping;

	if (!slot || !slot->count)
		return 0;
	if (find_mapping(task, pc, &mapping) != -EBUSY)
		file_ticks(&mapping, target, take(slot, target), &entry);
	return 0;
}

static __always_inline void settle_all(struct follow *follow)
{
	settle(&follow->pending[0], follow->pending[0].pc, follow->target);
	settle(&follow->pending[1], follow->pending[1].pc, follow->target);
}

#endif
