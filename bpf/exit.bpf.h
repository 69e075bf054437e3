/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_EXIT_BPF_H
#define BPFPROFIL_EXIT_BPF_H

/* A thread begins to exit, and still has its address space. */
#include "callers.bpf.h"
#include "follow.bpf.h"

/* Counts the ticks of an exec that failed after the old image was gone. */
static __always_inline void give_up_exec(struct follow *follow)
{
	u32 target = follow->exec.target, n = follow->exec.count ? drain(&follow->exec) : 0;
	struct target_account *account;

	if (!n)
		return;
	account = bpf_map_lookup_elem(&target_accounts, &target);
	if (account)
		__sync_fetch_and_add(&account->lost[LOST_EXEC], n);
}

/*
 * Notes the place where later ticks of the exit count. It is a function of its own, so that its
 * stack does not add to settle()'s.
 */
static __noinline int remember_exit_place(struct follow *follow)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u64 pc = arch_return_pc(task);
	struct mapping mapping = {};

	if (find_mapping(&mapping, pc) || !mapping.exec)
		return 0;
	follow->exit.offset = pc - mapping.start + mapping.offset;
	follow->exit.space = mapping.space;
	return 0;
}

/*
 * Notes the callers of that place too. If each process has chains of its own, those of all ended
 * processes would fill the table, most of them without a tick. Then a tick of an exit has only its
 * place.
 */
static __noinline int remember_exit_chain(struct follow *follow)
{
	u32 slot = exit_walks + bpf_get_smp_processor_id();
	struct task_struct *task = bpf_get_current_task_btf();
	struct walk *walk = bpf_map_lookup_elem(&walks, &slot);
	struct exit_chain *chain = &follow->exit_chain;
	u32 target = *(volatile u32 *)&follow->target; /* another CPU may move the thread */
	struct mm_struct *mm = task->mm;

	if (split == SPLIT_PROCESS || split == SPLIT_THREAD || !walk || !mm ||
	    follow->flags & FOLLOW_FROM_EXEC || target == NO_TARGET || amid_exec(task))
		return 0;
	arch_return_frame(task, &walk->at);
	begin_walk(walk, task, mm, target);
	walk->nr = walk->base = 0;
	walk->owner = NO_OWNER;
	walk_up(slot);
	chain->target = target;
	/* Is read first. If the halves are swapped meanwhile, the chain matches no generation. */
	chain->generation = *(volatile u32 *)&table_state.generation;
	chain->split = split_id();
	chain->node = walk->nr ? enter_chain(slot, target) : NO_NODE;
	return 0;
}

/*
 * The last chance to translate the user pc of an exiting thread. Tearing down its address space
 * takes ticks too, and by then the mapping is gone.
 */
static __always_inline int begin_exit(struct task_struct *task)
{
	struct follow *follow;

	if (without_text(task))
		return 0;
	follow = bpf_task_storage_get(&follows, task, NULL, 0) ?: make_follow(task);
	if (!follow)
		return 0;
	/* profil_free counts the rest some time later. */
	settle_runtime(task, follow);
	if (cpu_time.kind != PASS_AWAIT) {
		follow->flags |= FOLLOW_EXITING;
		__sync_fetch_and_add(&cpu_time.exits, 1);
	}
	give_up_exec(follow);
	if (!arch_task_mm_id(task))
		return 0;
	settle_all(follow);
	/* While ticks are off, none falls on the rest of the exit. */
	if (cpu_time.ticks_off)
		return 0;
	remember_exit_place(follow);
	return with_callers ? remember_exit_chain(follow) : 0;
}

#endif
