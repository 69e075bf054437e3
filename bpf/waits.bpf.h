/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_WAITS_BPF_H
#define BPFPROFIL_WAITS_BPF_H

/*
 * The wall time of threads, with --waits. Each change of a thread's state adds the time of the
 * state that ends. Running time is added to the thread's own sums. Waits and runnable time are
 * added to a node of the table, below the thread's root of waits.
 *
 * The programs on sched_switch and sched_wakeup run while a run queue is locked. They look elements
 * up, add to them and claim nodes. They neither update nor delete elements of a hash, nor create
 * storage, nor use the ring buffer, because these wait for locks that another CPU may hold.
 * Everything that these programs need is made at fork, at exec, or by a pass over all threads.
 */
#include "follow.bpf.h"
#include "wait_memo.bpf.h"
#include "shared/waits_abi.h"
#include "shared/walk_credit.h"

TASK_STORAGE(thread_waits, struct thread_waits);

/* By number of the node, like the nodes: small halves are parts of one map. */
MAPPED_ARRAY(node_waits, struct node_waits, 1);

ADDED_ARRAYS(waits_halves, waits_half, BPF_F_INNER_MAP, struct node_waits, 1, 2);

/* By target: waits for which there was no node. */
MAPPED_ARRAY(unplaced_waits, struct node_waits, 1);

/* --- the class of a wait ---------------------------------------------------------------------- */

enum {
	TASK_STATE_STOPPED = 4,
	TASK_STATE_TRACED = 8,
	TASK_STATE_DEAD = 0x80,
	TASK_STATE_WAKEKILL = 0x100,
	TASK_STATE_FREEZABLE = 0x2000,
	TASK_STATE_FROZEN = 0x8000,
	TASK_IO_WORKER = 0x10, /* PF_IO_WORKER */
	/* The numbers in 32-bit programs, on x86 and arm64. */
	NR_COMPAT_RESTART = 0,
	NR_COMPAT_CLONE = 120,
	NR_COMPAT_VFORK = 190,
};

/*
 * The parent of a vfork waits until the child has executed another program or ended. No other wait
 * of a clone looks like this.
 */
static __always_inline bool is_in_vfork(struct task_struct *task, s32 number, bool compat)
{
	const u32 states = TASK_STATE_WAKEKILL | TASK_STATE_FREEZABLE;

	if ((task->__state & states) != states)
		return false;
	if (number == NR_CLONE3)
		return true;
	if (compat)
		return number == NR_COMPAT_CLONE || number == NR_COMPAT_VFORK;
	return number == NR_CLONE || number == NR_VFORK;
}

/* The class of a task that waits in a system call, or for a page. */
static __always_inline u32 syscall_class(struct thread_waits *thread, s32 number, bool compat)
{
	if (number < 0)
		return WAIT_FAULT;
	if (number == (compat ? NR_COMPAT_RESTART : NR_RESTART_SYSCALL) && thread->syscall)
		return thread->syscall;
	if (number > WAIT_SYSCALL_MAX)
		number = WAIT_SYSCALL_MAX;
	thread->syscall = (WAIT_SYSCALL + number) | (compat ? WAIT_COMPAT : 0);
	return thread->syscall;
}

static __always_inline u32 class_of(struct task_struct *task, struct thread_waits *thread)
{
	u32 state = task->__state;
	bool compat = arch_is_compat(task);
	s32 number = arch_syscall(task);

	if (task->flags & TASK_KTHREAD)
		return WAIT_KTHREAD;
	if (task->flags & TASK_IO_WORKER)
		return WAIT_IO_WORKER;
	if (state & TASK_STATE_FROZEN)
		return WAIT_FROZEN;
	if (state & TASK_STATE_STOPPED)
		return WAIT_STOPPED;
	if (state & TASK_STATE_TRACED)
		return WAIT_TRACED;
	if (task->signal->core_state)
		return WAIT_CORE_DUMP;
	if (is_in_vfork(task, number, compat))
		return WAIT_VFORK;
	/* By its cgroup. The kernel also marks tasks that are stopped, traced or in a vfork. */
	if (BPF_CORE_READ_BITFIELD(task, frozen))
		return WAIT_FROZEN;
	return syscall_class(thread, number, compat);
}

/* A task that has left the queue waits, unless it has ended. */
static __always_inline u32 blocked_state(struct task_struct *task, struct thread_waits *thread)
{
	u32 class;

	if (task->__state & TASK_STATE_DEAD)
		return WAIT_ENDED;
	class = class_of(task, thread);
	return BPF_CORE_READ_BITFIELD(task, in_iowait) ? class | WAIT_IO : class;
}

/* --- time ------------------------------------------------------------------------------------- */

enum { CHANGE_TRIES = 4 };

/*
 * Changes a thread's state at a time, and returns the former state word. `ns` gets the duration of
 * the former state. If that began later than `now`, the time is taken again. Outside of the
 * scheduler's events only a pass over all threads writes the word, once.
 */
static __always_inline u64 change_state(struct thread_waits *thread, u32 state, u64 now, u64 *ns)
{
	u64 before = 0, state_word;
	u32 i;

	for (i = 0; i < CHANGE_TRIES; i++) {
		before = *(volatile u64 *)&thread->state_word;
		if (wait_word_is_after(before, now) && wait_word_state(before) != WAIT_OFF)
			now = bpf_ktime_get_ns();
		state_word = wait_word(state, now);
		*ns = wait_word_distance(before, state_word);
		if (__sync_val_compare_and_swap(&thread->state_word, before, state_word) == before)
			break;
	}
	return before;
}

static __always_inline struct node_waits *waits_of_node(u32 ref)
{
	u32 number = node_number(ref), half = !!(number & NODE_IN_SECOND);
	u32 at = number & (NODE_IN_SECOND - 1);
	void *large;

	if (node_mask(half) < base_nodes) {
		at += half * base_nodes;
		return bpf_map_lookup_elem(&node_waits, &at);
	}
	large = bpf_map_lookup_elem(&waits_halves, &half);
	return large ? bpf_map_lookup_elem(large, &at) : NULL;
}

/* Where the waits of a thread are counted now. */
static __always_inline struct node_waits *current_waits(const struct thread_waits *thread)
{
	u32 node = thread->node, target = thread->target;

	return node ? waits_of_node(node) : bpf_map_lookup_elem(&unplaced_waits, &target);
}

/* Adds the time of a state at its end, or at a cut. */
static __always_inline void add_time(struct thread_waits *thread, u32 state, u64 ns)
{
	struct node_waits *node;

	if (state == WAIT_OFF || state == WAIT_ENDED)
		return;
	if (state == WAIT_RUNNING) {
		__sync_fetch_and_add(&thread->on_cpu_ns, ns);
		return;
	}
	node = current_waits(thread);
	if (node)
		__sync_fetch_and_add(state == WAIT_RUNNABLE ? &node->runnable_ns : &node->ns, ns);
}

/*
 * Adds the time since a thread got a CPU, if no event has shown since then that it left it. It ran
 * for as long as the scheduler's runtime shows. The rest is unaccounted.
 */
static __always_inline void add_unseen(struct thread_waits *thread, u64 ns, u64 ran)
{
	if (ran > ns)
		ran = ns;
	__sync_fetch_and_add(&thread->on_cpu_ns, ran);
	__sync_fetch_and_add(&thread->unaccounted_ns, ns - ran);
}

static __always_inline void count_wait(const struct thread_waits *thread)
{
	struct node_waits *node = current_waits(thread);

	if (node)
		__sync_fetch_and_add(&node->count, 1);
}

/* --- the place of a wait ---------------------------------------------------------------------- */

static __always_inline bool has_user_stack(struct task_struct *task)
{
	return !(task->flags & (TASK_KTHREAD | TASK_IO_WORKER)) && !amid_exec(task);
}

/* The place where the current task entered the kernel, without callers. */
static __always_inline void walk_to_place(u32 slot, struct walk *walk)
{
	u64 site;

	if (!find_text(slot) || walk->text == TEXT_OTHER)
		return;
	site = walk->at.pc + walk->to_site;
	walk->sites[0] = site & ~((1ULL << bin_shift) - 1);
	walk->nr = 1;
}

/* Walks up to the callers if there is credit for it, else only to the place. */
static __always_inline void walk_on_credit(u32 slot, struct walk *walk, struct thread_waits *thread,
					   u32 memo, u32 state)
{
	u32 number = thread->owner & (OWNERS_MAX - 1);
	struct owner *owner = bpf_map_lookup_elem(&owners, &number);
	/* The first walks in the map are those for ticks, one for each CPU. */
	const u32 nr_cpus = exit_walks;
	u64 now = bpf_ktime_get_ns();

	if (owner &&
	    credit_admits(&walk->credit, &owner->credit, now, nr_cpus, thread->waited_us)) {
		begin_memo(memo, walk, state);
		walk_up(slot);
		credit_pay(&walk->credit, &owner->credit, bpf_ktime_get_ns() - now);
	} else {
		walk_to_place(slot, walk);
		walk->end = END_LATE;
	}
}

/* Prepares the walk of the current task. False: it has no user stack. */
static __always_inline bool prepare_walk(struct walk *walk, struct thread_waits *thread)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct mm_struct *mm = task->mm;

	walk->owner = thread->owner | OWNER_QUIET;
	walk->nr = 0;
	walk->unknown = false;
	walk->memo = NO_MEMO;
	walk->epoch = *(volatile u32 *)&table_state.epoch;
	if (!mm || !has_user_stack(task)) {
		walk->end = END_EXEC;
		return false;
	}
	arch_return_frame(task, &walk->at);
	begin_walk(walk, task, mm, thread->target);
	return true;
}

/*
 * Returns the node of a class without a place. If the owner has no room, the wait counts without
 * its split, and root is charged.
 */
static __noinline u32 node_of_class(struct thread_waits *thread, u64 site)
{
	struct table_root_key key = { .target = thread->target, .end = END_WAIT };
	struct table_root *root;
	u32 node = child_node(thread->root, site, thread->owner | OWNER_QUIET);

	if (node)
		return node;
	key.half = thread->root & 1;
	root = bpf_map_lookup_elem(&table_roots, &key);
	return root ? child_node(root->number | NODE_IS_ROOT, site, OWNER_QUIET | OWNER_ROOT) :
		      NO_NODE;
}

/* Enters the chain of a walk below the thread's root. The walk's frames end with the class. */
static __noinline u32 enter_wait(u32 slot, struct walk *walk, struct thread_waits *thread)
{
	u64 leaf = walk->sites[0], site = walk->sites[(walk->nr - 1) & (WALK_FRAMES - 1)];
	u32 node;

	walk->base = thread->root;
	walk->owner = thread->owner | OWNER_QUIET;
	node = enter_chain(slot, thread->target);
	if (node)
		return node;
	walk->memo = NO_MEMO;
	/* As for a tick: count it at the leaf without callers, else at its class. */
	if (walk->nr_entered && walk->nr > 1)
		node = child_node(walk->entered[0].node,
				  with_callers ? leaf | SITE_AFTER_GAP : coarse_site(leaf),
				  walk->owner);
	return node ?: node_of_class(thread, site);
}

/*
 * Walks up from a place. Text that user space does not know ends the walk, and is announced later.
 */
static __always_inline void walk_wait(u32 slot, struct walk *walk, struct thread_waits *thread,
				      u32 memo, u32 state)
{
	if (with_callers) {
		walk_on_credit(slot, walk, thread, memo, state);
	} else {
		begin_memo(memo, walk, state);
		walk_to_place(slot, walk);
	}
	if (walk->nr && !walk->unknown)
		return;
	walk->memo = NO_MEMO;
	if (!walk->unknown)
		return;
	walk->end = END_LATE;
	thread->unknown_pc = walk->at.pc;
}

/* Adds the class of the wait as the outermost frame. In a full chain it replaces the last one. */
static __always_inline void add_class(struct walk *walk, u32 state)
{
	if (walk->nr >= WALK_FRAMES)
		walk->nr = WALK_FRAMES - 1;
	put_site(walk, walk->nr, wait_site(state, with_callers ? walk->end : END_FLAT));
	walk->nr++;
}

/*
 * Counts a wait of the current task, which begins now. It is a function of its own, so that it is
 * verified once.
 */
__noinline int begin_wait(struct thread_waits *thread, u32 state)
{
	u32 slot = wait_walks + bpf_get_smp_processor_id(), memo, node = 0;
	struct walk *walk = bpf_map_lookup_elem(&walks, &slot);

	if (!walk || !thread)
		return 0;
	thread->unknown_pc = 0;
	if (prepare_walk(walk, thread)) {
		memo = memo_slot(walk, state);
		node = remembered_node(memo, slot, walk, thread->root, state);
		if (!node)
			walk_wait(slot, walk, thread, memo, state);
	}
	if (!node) {
		add_class(walk, state);
		node = enter_wait(slot, walk, thread);
		end_memo(walk, node);
	}
	thread->node = node;
	thread->late = walk->end == END_LATE ? LATE : NOT_LATE;
	if (thread->late && !waits_state.late)
		waits_state.late = true;
	count_wait(thread);
	return 0;
}

/* --- the scheduler's events ------------------------------------------------------------------- */

static __always_inline struct thread_waits *waits_of(struct task_struct *task)
{
	struct thread_waits *thread = bpf_task_storage_get(&thread_waits, task, NULL, 0);

	return thread && thread->root ? thread : NULL;
}

static __always_inline u64 ran_since(struct thread_waits *thread, struct task_struct *task)
{
	u64 now = task->se.sum_exec_runtime, ran = now - thread->runtime_seen;

	thread->runtime_seen = now;
	return ran;
}

/*
 * If a thread ran when its account began, the scheduler's runtime was up to a tick old then. What
 * its first switch adds for the time before does not belong to the account.
 */
static __always_inline void settle_base(struct thread_waits *thread, u64 ran, u64 ns)
{
	if (thread->unsettled && ran > ns)
		thread->cpu_base += ran - ns;
	thread->unsettled = false;
}

/*
 * Counts the wait of a thread that got its CPU without an event: the kernel skips a BPF program
 * that is already running on this CPU, and some kernels hide a task of their own from all programs.
 * The thread has run since then for as long as the scheduler's runtime shows, and it was blocked,
 * or runnable, for the rest.
 */
static __always_inline void enter_unseen(struct thread_waits *thread, struct task_struct *task,
					 u64 now)
{
	u64 state_word = *(volatile u64 *)&thread->state_word, ns, ran;
	u32 state = wait_word_state(state_word);

	if (state != WAIT_RUNNABLE && state < WAIT_BLOCKED)
		return;
	ns = wait_word_distance(state_word, wait_word(0, now));
	ran = task->se.sum_exec_runtime - thread->runtime_seen;
	change_state(thread, WAIT_RUNNING, now - (ran < ns ? ran : ns), &ns);
	add_time(thread, state, ns);
}

/*
 * The runtime of a thread at this moment. The scheduler's figure for a running thread is up to a
 * tick old. If this estimate is too high, the next call adds less, because cpu_billed is
 * subtracted.
 */
static __always_inline u64 runtime_now(struct thread_waits *thread, struct task_struct *task)
{
	u64 state_word = *(volatile u64 *)&thread->state_word, runtime = task->se.sum_exec_runtime,
	    lag;

	if (wait_word_state(state_word) != WAIT_RUNNING)
		return runtime;
	lag = wait_word_distance(state_word, wait_word(0, bpf_ktime_get_ns()));
	return runtime + (lag < runtime_lag / 2 ? lag : runtime_lag / 2);
}

/* Adds the growth of a thread's sums to those of its root in a half, if there is one. */
static __noinline int bill_root(struct thread_waits *thread, struct task_struct *task, u32 half)
{
	struct table_root_key key = { .target = thread->target, .end = END_WAIT };
	u64 ran_ns = runtime_now(thread, task) - thread->cpu_base;
	struct table_root *root;

	key.half = half;
	key.split = thread->split;
	root = bpf_map_lookup_elem(&table_roots, &key);
	if (!root) {
		key.split = 0;
		root = bpf_map_lookup_elem(&table_roots, &key);
	}
	if (!root)
		return 0;
	__sync_fetch_and_add(&root->on_cpu_ns, bill(&thread->on_cpu_billed, thread->on_cpu_ns));
	__sync_fetch_and_add(&root->unaccounted_ns,
			     bill(&thread->unaccounted_billed, thread->unaccounted_ns));
	__sync_fetch_and_add(&root->cpu_ns, bill(&thread->cpu_billed, ran_ns));
	return 0;
}

static __always_inline void leave_cpu(struct task_struct *task, bool preempted, u64 now)
{
	struct thread_waits *thread = waits_of(task);
	u32 state = WAIT_RUNNABLE, before;
	u64 ns, ran;

	if (!thread)
		return;
	enter_unseen(thread, task, now);
	if (!preempted && task->__state && has_left_queue(task))
		state = blocked_state(task, thread);
	if (state != WAIT_ENDED)
		begin_wait(thread, state);
	before = wait_word_state(change_state(thread, state, now, &ns));
	ran = ran_since(thread, task);
	if (before == WAIT_RUNNING) {
		settle_base(thread, ran, ns);
		add_time(thread, before, ns);
	}
	/* Some kernels hide the thread's last event, which comes while another task runs. */
	if (state == WAIT_ENDED)
		bill_root(thread, task, thread->root & 1);
}

static __always_inline void enter_cpu(struct task_struct *task, u64 now)
{
	struct thread_waits *thread = waits_of(task);
	u32 before;
	u64 ns, ran;

	if (!thread)
		return;
	before = wait_word_state(change_state(thread, WAIT_RUNNING, now, &ns));
	ran = ran_since(thread, task);
	/* If the event of a wakeup was missed, the thread was blocked for nearly all of that time. */
	if (before == WAIT_RUNNABLE || before >= WAIT_BLOCKED)
		add_time(thread, before, ns);
	else if (before != WAIT_OFF)
		add_unseen(thread, ns, ran);
}

/* A thread may also be woken before it has left the CPU; then it has not waited. */
static __always_inline void wake(struct task_struct *task)
{
	struct thread_waits *thread = waits_of(task);
	u64 ns, before;

	if (!thread || wait_word_state(*(volatile u64 *)&thread->state_word) < WAIT_BLOCKED)
		return;
	before = change_state(thread, WAIT_RUNNABLE, bpf_ktime_get_ns(), &ns);
	add_time(thread, wait_word_state(before), ns);
	/* 0 means that the thread has not waited. */
	thread->waited_us = ns >> 10 < ~0U ? (ns >> 10) + 1 : ~0U;
}

/* --- records, outside of the lock of a run queue ---------------------------------------------- */

/* The root of a target's and split's waits in a half, as a parent. If there is none, it is made. */
static __noinline u32 root_of_waits(u32 target, u64 split_of, struct task_struct *task, u32 half)
{
	struct table_root_key key = { .target = target, .end = END_WAIT, .half = half };
	struct table_root *root;
	u32 number = NO_ROOT_NUMBER;

	/* A thread that is being moved out of its target has no root. */
	if (target == NO_TARGET)
		return 0;
	if (split_of && spent_of(target, split_of, task)) {
		key.split = split_of;
		root = bpf_map_lookup_elem(&table_roots, &key);
		number = root ? root->number : new_root_number(&key);
	}
	if (number != NO_ROOT_NUMBER)
		return number | NODE_IS_ROOT;
	key.split = 0;
	root = bpf_map_lookup_elem(&table_roots, &key);
	return root ? root->number | NODE_IS_ROOT : 0;
}

/*
 * Gives a thread a root in the half in which waits are counted. The half is read after the record
 * was made, because a pass that changes the half does not see threads without a record.
 */
static __noinline int set_root(struct thread_waits *thread, struct task_struct *task,
			       const struct follow *follow)
{
	u32 half = *(volatile u32 *)&waits_state.half;

	thread->target = *(volatile u32 *)&follow->target;
	thread->split = follow->split;
	thread->owner = owner_of(NULL, task);
	thread->root = root_of_waits(thread->target, thread->split, task, half);
	if (thread->root)
		thread->root = owned_root(thread->root, thread->owner);
	return 0;
}

/* Adds the growth of a thread's sums to those of its root in a half, which is made if needed. */
static __noinline int bill_waits(struct thread_waits *thread, struct task_struct *task, u32 half)
{
	if (!thread->root)
		return 0;
	root_of_waits(thread->target, thread->split, task, half);
	return bill_root(thread, task, half);
}

/* Makes a thread's record if it has none. */
static __always_inline struct thread_waits *waits_for(struct task_struct *task)
{
	struct thread_waits fresh = { .runtime_seen = task->se.sum_exec_runtime,
				      .cpu_base = task->se.sum_exec_runtime };

	return bpf_task_storage_get(&thread_waits, task, &fresh, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

static __always_inline void start_state(struct thread_waits *thread, u32 state)
{
	if (waits_state.on)
		thread->state_word = wait_word(state, bpf_ktime_get_ns());
}

/* A child that is not in the run queue yet. No program on the scheduler's events has seen it. */
static __always_inline void start_child(struct task_struct *child)
{
	struct follow *follow = bpf_task_storage_get(&follows, child, NULL, 0) ?:
										 make_follow(child);
	struct thread_waits *thread;

	if (!follow || follow->flags & FOLLOW_FROM_EXEC || follow->target == NO_TARGET)
		return;
	thread = waits_for(child);
	if (!thread)
		return;
	set_root(thread, child, follow);
	thread->node =
		node_of_class(thread, wait_site(WAIT_RUNNABLE, with_callers ? END_EXEC : END_FLAT));
	start_state(thread, WAIT_RUNNABLE);
	count_wait(thread);
	if (half_of(thread->root) != *(volatile u32 *)&waits_state.half)
		set_root(thread, child, follow);
}

/* COMMAND, from its exec on. */
static __noinline int start_command(struct task_struct *task, struct follow *follow)
{
	struct thread_waits *thread;

	if (follow->target == NO_TARGET)
		return 0;
	thread = waits_for(task);
	if (!thread || thread->root)
		return 0;
	set_root(thread, task, follow);
	thread->unsettled = true;
	start_state(thread, WAIT_RUNNING);
	return 0;
}

/* The last event of a thread. */
static __noinline int end_waits(struct task_struct *task)
{
	struct thread_waits *thread = bpf_task_storage_get(&thread_waits, task, NULL, 0);

	return thread ? bill_waits(thread, task, *(volatile u32 *)&waits_state.half) : 0;
}

#endif
