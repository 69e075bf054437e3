/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_FOLLOW_BPF_H
#define BPFPROFIL_FOLLOW_BPF_H

/*
 * Which target a thread's ticks count for, and the ticks that wait until their pc can be
 * translated.
 */
#include "callers.bpf.h"
#include "spent.bpf.h"
#include "weight.bpf.h"

/* Kernel threads have only the kernel's text. */
static __always_inline bool without_text(struct task_struct *task)
{
	return task->flags & TASK_KTHREAD &&
	       (mode != MODE_KERNEL_APART || system_target == NO_TARGET);
}

/*
 * The record of a task, or else of its process: the kernel starts io_uring's workers without the
 * fork tracepoint.
 */
static __always_inline struct follow *follow_of(struct task_struct *task)
{
	struct follow *follow = bpf_task_storage_get(&follows, task, NULL, 0);

	if (follow)
		return follow;
	return bpf_task_storage_get(&follows, task->group_leader, NULL, 0);
}

/*
 * Whether a thread's target is that of its place (cgroup or system). This is also true without a
 * record.
 */
static __always_inline bool found_by_place(const struct follow *follow)
{
	return (cgroup_wanted || system_target != NO_TARGET) &&
	       (!follow || follow->flags & FOLLOW_BY_PLACE);
}

/* The address space that a task's pcs belong to; 0 during an exec, when it is unknown. */
static __always_inline u64 settled_mm(struct task_struct *task)
{
	return amid_exec(task) ? 0 : arch_task_mm_id(task);
}

/* From here on, a thread's samples must add up to its runtime. */
static __always_inline void weigh_from(struct weight *weight, struct task_struct *task, u64 base)
{
	*weight = (struct weight){ .run = runtime_at_run_begin(task), .base = base };
	if (base && task->on_cpu)
		weight->base += average_age(runtime_lag);
}

/*
 * Makes a record for a thread that has none, by its place, or, for a worker of a followed process,
 * by its process. NULL: the thread is in no target.
 */
static __noinline struct follow *make_follow(struct task_struct *task)
{
	struct follow *leader = bpf_task_storage_get(&follows, task->group_leader, NULL, 0);
	struct follow fresh = {};

	if (found_by_place(leader)) {
		fresh.target = place_target(task);
		fresh.flags = FOLLOW_BY_PLACE;
		if (fresh.target == NO_TARGET)
			return NULL;
	} else if (leader) {
		fresh.target = leader->target;
		fresh.flags = leader->flags & ~FOLLOW_EXITING;
	} else {
		return NULL;
	}
	fresh.mm = settled_mm(task);
	fresh.split = task_split(task);
	fresh.spent = leader && task->start_time < leader->moved_ns ? task->se.sum_exec_runtime :
								      runtime_before(task);
	weigh_from(&fresh.weight, task, fresh.spent);
	if (!fresh.spent)
		fresh.weight.run = 0;
	return bpf_task_storage_get(&follows, task, &fresh, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/* Moves a thread to another target. Its runtime until now counts for the old one. */
static __noinline int move_to(struct task_struct *task, struct follow *follow, u32 target)
{
	u64 split_now = task_split(task);

	if (!follow ||
	    (follow->target == target && (split == SPLIT_NONE || follow->split == split_now)))
		return 0;
	settle_runtime(task, follow);
	/* Runtime outside all targets counts for none, and samples must not make up for it. */
	if (follow->target == NO_TARGET) {
		follow->spent = task->se.sum_exec_runtime;
		weigh_from(&follow->weight, task, follow->spent);
	}
	follow->target = target;
	follow->split = split_now;
	if (split == SPLIT_CGROUP && target != NO_TARGET)
		announce_cgroup(task, split_now);
	return 0;
}

/*
 * Finds a thread's target again. A thread that is followed itself changes its cgroup but not its
 * target.
 */
static __always_inline void update_target(struct task_struct *task, struct follow *follow)
{
	/* Without cgroups no place has a target of its own. */
	if (cgroup_wanted || split != SPLIT_NONE)
		move_to(task, follow, found_by_place(follow) ? place_target(task) : follow->target);
}

/*
 * The record for a tick; NULL: the tick is in no target. If there is no memory for the thread's own
 * record, this is its process's, whose runtime is another one. Therefore such a sample is one tick.
 * A thread may also be in another cgroup than its process, and in no target.
 */
static __always_inline struct follow *follow_at_tick(struct task_struct *task,
						     struct follow *follow, struct tick *tick)
{
	if (!follow)
		follow = make_follow(task);
	if (!follow) {
		tick->n = 1;
		follow = bpf_task_storage_get(&follows, task->group_leader, NULL, 0);
		return follow && (!found_by_place(follow) || place_target(task) == follow->target) ?
			       follow :
			       NULL;
	}
	update_target(task, follow);
	return follow->target == NO_TARGET ? NULL : follow;
}

/*
 * Defers a tick. True: there was a free slot. Only the thread itself and its interrupts come here.
 */
static __always_inline bool defer(struct pending_ticks *slot, u64 pc, u32 target, u32 n)
{
	if (slot->count && (slot->pc != pc || slot->target != target))
		return false;
	slot->pc = pc;
	slot->target = target;
	__sync_fetch_and_add(&slot->count, n);
	return true;
}

static __always_inline void defer_busy(struct follow *follow, struct target_account *account,
				       u64 pc, u32 n)
{
	u32 target = follow->target;

	if (!defer(&follow->pending[0], pc, target, n) &&
	    !defer(&follow->pending[1], pc, target, n))
		__sync_fetch_and_add(&account->lost[LOST_MAPPING_BUSY], n);
	else
		__sync_fetch_and_add(&account->deferred, n);
}

static __always_inline void defer_exec(struct follow *follow, struct target_account *account, u32 n)
{
	/* The slot holds another target's ticks, because the task was moved during its exec. */
	if (!defer(&follow->exec, 0, follow->target, n))
		__sync_fetch_and_add(&account->lost[LOST_EXEC], n);
	else
		__sync_fetch_and_add(&account->deferred, n);
}

/* Empties a slot. The caller counts these ticks, at a place or as lost. */
static __always_inline u32 drain(struct pending_ticks *slot)
{
	u32 target = slot->target, n;
	struct target_account *account = bpf_map_lookup_elem(&target_accounts, &target);

	if (!account)
		return 0;
	n = __sync_lock_test_and_set(&slot->count, 0);
	__sync_fetch_and_add(&account->settled, n);
	return n;
}

/* The site of a pc in a mapping of text. It is a function of its own to save stack. */
static __noinline u64 site_in(const struct mapping *mapping, u64 pc)
{
	struct text_range range = {};

	range_of_mapping(mapping, 0, &range);
	return range_text(&range) == TEXT_OTHER ? SITE_OF_OTHER : range_site(&range, pc);
}

/* Counts deferred ticks at their site; 0: outside of all text. Their callers are unknown by now. */
static __noinline int count_late(struct pending_ticks *slot, u64 site, u32 end)
{
	u32 target = slot->target, n = drain(slot);
	struct target_account *account = bpf_map_lookup_elem(&target_accounts, &target);

	if (site)
		return count_site(target, with_callers ? end : END_FLAT, site, n);
	if (account)
		__sync_fetch_and_add(&account->outside, n);
	note_unbinned(target, n);
	return with_callers ? count_rootless(target, end, n) : 0;
}

/*
 * Counts deferred ticks in a range that a later tick found. They could not look up their own
 * mapping, because bpf_find_vma fails a second time in one interrupt: it releases its lock only
 * when the interrupt returns.
 */
static __always_inline void settle_within(struct pending_ticks *slot,
					  const struct text_range *range)
{
	if (!slot->count || (slot->pc - range->start) >> TEXT_PAGE_SHIFT >= range->pages)
		return;
	count_late(slot, range_place(range, slot->pc), END_EXEC);
}

/*
 * Counts the ticks of a slot as if they fell at pc. `end` says why there are no callers. Interrupts
 * must not call this.
 */
__noinline int settle(struct pending_ticks *slot, u64 pc, u32 end)
{
	struct mapping mapping = {};
	int ret;

	if (!slot || !slot->count)
		return 0;
	ret = find_mapping(&mapping, pc);
	if (ret != -EBUSY)
		count_late(slot, mapping.exec ? site_in(&mapping, pc) : 0, end);
	return 0;
}

static __always_inline void settle_all(struct follow *follow)
{
	settle(&follow->pending[0], follow->pending[0].pc, END_EXEC);
	settle(&follow->pending[1], follow->pending[1].pc, END_EXEC);
}

#endif
