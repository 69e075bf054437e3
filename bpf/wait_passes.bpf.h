/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_WAIT_PASSES_BPF_H
#define BPFPROFIL_WAIT_PASSES_BPF_H

/*
 * Passes over all threads, with --waits: they begin and end accounts, divide open waits between
 * profiles, and find places and callers of waits that began without them. No run queue is locked
 * here.
 */
#include "waits.bpf.h"

/* --- passes over all threads ------------------------------------------------------------------ */

static __always_inline u32 scheduled_state(struct task_struct *task, struct thread_waits *thread)
{
	if (task->__state && has_left_queue(task))
		return blocked_state(task, thread);
	return task->on_cpu ? WAIT_RUNNING : WAIT_RUNNABLE;
}

/*
 * The place of a task other than the current one. If its text is unknown, it is announced. 0: there
 * is none.
 */
static __noinline u64 place_of(struct task_struct *task, u64 pc)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	struct vm_area_struct *vma = mm ? maple_find_vma(mm, pc) : NULL;
	struct mapping mapping = {};
	u64 site;
	u32 text;

	if (!vma || !has_user_stack(task))
		return 0;
	announce_mapping(task, vma, &mapping);
	text = mapping.exec ? known_text(&mapping.space) : 0;
	if (!text)
		return 0;
	site = make_site(text, pc - mapping.start + mapping.offset);
	return with_callers ? site : site & ~((1ULL << bin_shift) - 1);
}

/* The node of a wait whose callers are not known. */
static __noinline u32 node_at_place(struct thread_waits *thread, u32 state, u64 place)
{
	u32 class = node_of_class(thread, wait_site(state, with_callers ? END_LATE : END_FLAT));
	u32 node = class && place ? child_node(class, place, thread->owner | OWNER_QUIET) : NO_NODE;

	return node ?: class;
}

/* Sets the thread's state to the scheduler's, unless an event has set it meanwhile. */
static __always_inline void begin_thread(struct task_struct *task, struct follow *follow)
{
	struct thread_waits *thread = waits_for(task);
	u32 state, before, node = NO_NODE;
	u64 state_word, fresh;

	if (!thread)
		return;
	state_word = *(volatile u64 *)&thread->state_word;
	before = *(volatile u32 *)&thread->node;
	thread->runtime_seen = task->se.sum_exec_runtime;
	/* cpu_billed stays. With this base the sum continues from there. */
	thread->cpu_base = thread->runtime_seen - thread->cpu_billed;
	set_root(thread, task, follow);
	state = scheduled_state(task, thread);
	if (state > WAIT_RUNNING && state != WAIT_ENDED) {
		node = node_at_place(thread, state, place_of(task, arch_return_pc(task)));
		if (__sync_val_compare_and_swap(&thread->node, before, node) != before)
			return;
	}
	thread->unsettled = state == WAIT_RUNNING;
	fresh = wait_word(state, bpf_ktime_get_ns());
	if (__sync_val_compare_and_swap(&thread->state_word, state_word, fresh) != state_word) {
		if (node)
			__sync_val_compare_and_swap(&thread->node, node, before);
	} else if (node) {
		thread->late = LATE;
		count_wait(thread);
	}
}

/* Divides the time of the current state at this moment. True: the state lasts. */
static __always_inline bool divide_time(struct thread_waits *thread, bool ends)
{
	u64 before = *(volatile u64 *)&thread->state_word, ns = 0;
	u32 state = wait_word_state(before);

	if (state == WAIT_OFF || state == WAIT_ENDED)
		return false;
	if (ends) {
		state = wait_word_state(change_state(thread, WAIT_OFF, bpf_ktime_get_ns(), &ns));
	} else {
		u64 state_word = wait_word(state, bpf_ktime_get_ns());

		if (__sync_val_compare_and_swap(&thread->state_word, before, state_word) != before)
			return false;
		ns = wait_word_distance(before, state_word);
	}
	add_time(thread, state, ns);
	return true;
}

/*
 * Adds the site of a node to a walk, from the leaf on. Returns its parent; NO_NODE: there is none.
 */
__noinline u32 copy_site(u32 slot, u32 node)
{
	struct walk *walk = bpf_map_lookup_elem(&walks, &slot);
	struct table_node *from;

	if (!walk || !node || node & NODE_IS_ROOT)
		return NO_NODE;
	from = node_of(node);
	if (!from || walk->nr >= WALK_FRAMES)
		return NO_NODE;
	put_site(walk, walk->nr, from->site);
	walk->nr++;
	return from->parent;
}

/* Enters the chain of an open wait in the half that its root is in. */
static __noinline u32 copy_chain(struct thread_waits *thread, u32 node)
{
	u32 slot = wait_walks + bpf_get_smp_processor_id(), i;
	struct walk *walk;

	slot += wait_copies;
	walk = bpf_map_lookup_elem(&walks, &slot);
	if (!walk)
		return 0;
	walk->nr = 0;
	for (i = 0; i <= WALK_FRAMES && node; i++)
		node = copy_site(slot, node);
	return walk->nr ? enter_wait(slot, walk, thread) : 0;
}

/* Copies the chain of an open wait to below the thread's root. It stays counted where it began. */
static __always_inline void copy_wait(struct thread_waits *thread, u32 node)
{
	u32 fresh = copy_chain(thread, node);

	__sync_val_compare_and_swap(&thread->node, node, fresh);
	__sync_val_compare_and_swap(&thread->late, LATE, LATE_MOVED);
}

/*
 * Moves an open wait to the other half. If the thread begins a wait meanwhile, that wait is there
 * already.
 */
static __always_inline void move_wait(struct thread_waits *thread)
{
	u32 node = *(volatile u32 *)&thread->node;

	if (!node || !thread->root || half_of(node) == (thread->root & 1))
		return;
	divide_time(thread, false);
	copy_wait(thread, node);
}

/*
 * Counts an open wait, which has this state word, at another node. False: it has ended. A wait that
 * began meanwhile has another one, and its node may be the same.
 */
static __noinline bool count_elsewhere(struct thread_waits *thread, u64 state_word, u32 node,
				       u32 fresh)
{
	struct node_waits *from, *to;

	if (__sync_val_compare_and_swap(&thread->node, node, fresh) != node)
		return false;
	if (*(volatile u64 *)&thread->state_word != state_word) {
		__sync_val_compare_and_swap(&thread->node, fresh, node);
		return false;
	}
	from = node ? waits_of_node(node) : NULL;
	to = fresh ? waits_of_node(fresh) : NULL;
	if (thread->late != LATE || !from || !to)
		return true;
	__sync_fetch_and_add(&from->count, -1ULL);
	__sync_fetch_and_add(&to->count, 1);
	return true;
}

/*
 * Announces text that was unknown when the wait began. If the wait lasts, it is counted at its
 * place.
 */
static __always_inline void place_wait(struct task_struct *task, struct thread_waits *thread)
{
	u32 node = *(volatile u32 *)&thread->node, fresh, state;
	u64 pc = thread->unknown_pc, state_word, place;
	struct table_node *at;

	if (!pc)
		return;
	thread->unknown_pc = 0;
	place = place_of(task, pc);
	state_word = *(volatile u64 *)&thread->state_word;
	state = wait_word_state(state_word);
	at = node ? node_of(node) : NULL;
	if (!place || !at || site_text(at->site) != TEXT_WAIT || state < WAIT_BLOCKED ||
	    wait_site_state(at->site) != state)
		return;
	fresh = node_at_place(thread, state, place);
	if (fresh && fresh != node)
		count_elsewhere(thread, state_word, node, fresh);
}

/* --- threads that sleep and whose callers are not known ------------------------------------------ */

/*
 * Whether reading a mapping cannot wait for a user's program. The owner may replace the mapping at
 * any time; that is why a helper reads it.
 */
static __always_inline bool is_plain_memory(struct vm_area_struct *vma)
{
	if (BPF_CORE_READ(vma, vm_file))
		return false;
	/* "userfaultfd: add vm_userfaultfd_ctx to the vm_area_struct", 4.3: it may be empty. */
	return !bpf_core_field_exists(vma->vm_userfaultfd_ctx.ctx) ||
	       !BPF_CORE_READ(vma, vm_userfaultfd_ctx.ctx);
}

/* A step may read a word below the one that is missing. */
enum { PIECE_BELOW = 64 };

/*
 * Requests the piece of a sleeper's stack around an address. False: it is not to be read, or the
 * sleeper has as many as it may have.
 */
static __noinline bool want_piece(struct task_struct *task, struct sleeper *sleeper, u64 at)
{
	u32 number = waits_state.pieces, nr = sleeper->nr;
	struct stack_piece *piece = bpf_map_lookup_elem(&stack_pieces, &number);
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	struct vm_area_struct *vma;
	u64 start, size;

	if (!piece || nr >= SLEEPER_PIECES || !mm)
		return false;
	vma = maple_find_vma(mm, at);
	if (!vma || !is_plain_memory(vma))
		return false;
	start = BPF_CORE_READ(vma, vm_start);
	if (start < at - PIECE_BELOW)
		start = (at - PIECE_BELOW) & ~(sizeof(u64) - 1);
	size = BPF_CORE_READ(vma, vm_end) - start;
	piece->at = start;
	piece->wanted = size < PIECE_WORDS * sizeof(u64) ? size : PIECE_WORDS * sizeof(u64);
	piece->size = 0;
	piece->tid = BPF_CORE_READ(task, pid);
	piece->owner = sleeper->owner;
	barrier_var(nr); /* the verifier must see the mask here */
	sleeper->pieces[nr & (SLEEPER_PIECES - 1)] = number;
	sleeper->nr = nr + 1;
	waits_state.pieces = number + 1;
	return true;
}

static __always_inline void look_again_in(u64 ns)
{
	if (ns < waits_state.next_ns)
		waits_state.next_ns = ns;
}

/*
 * Makes a thread a sleeper if its wait is late and it is time for a walk: at first soon, and then
 * whenever the wait has become twice as long.
 */
static __noinline int find_sleeper(struct task_struct *task, struct thread_waits *thread)
{
	u32 number = waits_state.sleepers, owner_number = thread->owner & (OWNERS_MAX - 1);
	u64 state_word = *(volatile u64 *)&thread->state_word, now = bpf_ktime_get_ns(), age, since;
	struct sleeper *sleeper = bpf_map_lookup_elem(&sleepers, &number);
	struct owner *owner = bpf_map_lookup_elem(&owners, &owner_number);
	u32 slot = wait_walks + wait_copies - 1;
	struct walk *walk = bpf_map_lookup_elem(&walks, &slot);

	if (wait_word_state(state_word) < WAIT_BLOCKED || !walk || !owner ||
	    owner->unread >= SILENT)
		return 0;
	age = wait_word_distance(state_word, wait_word(0, now));
	since = now - thread->tried_ns;
	if (age < LATE_NS || 2 * since < age) {
		look_again_in(age < LATE_NS ? LATE_NS - age : age / 2 - since);
		return 0;
	}
	/* Before another walk is due, the others may have had theirs. */
	if (!sleeper || !credit_admits(&walk->credit, &owner->credit, now, exit_walks, 0)) {
		look_again_in(0);
		return 0;
	}
	arch_return_frame(task, &sleeper->at);
	sleeper->state_word = state_word;
	sleeper->owner = owner_number;
	sleeper->nr = 0;
	thread->tried_ns = now;
	if (!want_piece(task, sleeper, sleeper->at.sp))
		return 0;
	waits_state.sleepers = number + 1;
	thread->sleeper = number + 1;
	return 0;
}

/* Walks up from a sleeper's registers. False: it has no user stack. */
static __noinline bool walk_copy(struct task_struct *task, struct thread_waits *thread,
				 struct walk *walk, struct sleeper *sleeper)
{
	u32 slot = wait_walks + wait_copies - 1;
	struct mm_struct *mm = task->mm;

	if (!mm || !has_user_stack(task))
		return false;
	walk->at = sleeper->at;
	walk->copy = thread->sleeper;
	walk->task = (u64)task;
	walk->owner = thread->owner | OWNER_QUIET;
	walk->nr = 0;
	walk->memo = NO_MEMO;
	walk->unknown = false;
	begin_walk(walk, task, mm, thread->target);
	walk_up(slot);
	/* It is announced here, for the next try. */
	if (walk->unknown) {
		walk->end = END_LATE;
		place_of(task, walk->at.pc);
	}
	return walk->nr && walk->end != END_LATE;
}

/* Finds the callers of a sleeper, unless another piece of its stack must be read before that. */
static __noinline int walk_sleeper(struct task_struct *task, struct thread_waits *thread)
{
	u32 number = thread->sleeper - 1, slot = wait_walks + wait_copies - 1, node, last;
	struct sleeper *sleeper = bpf_map_lookup_elem(&sleepers, &number);
	struct walk *walk = bpf_map_lookup_elem(&walks, &slot);
	u64 now = bpf_ktime_get_ns();
	struct stack_piece *piece;
	struct owner *owner;
	bool found;

	if (!sleeper || !walk)
		return 0;
	last = sleeper->pieces[(sleeper->nr - 1) & (SLEEPER_PIECES - 1)];
	piece = bpf_map_lookup_elem(&stack_pieces, &last);
	owner = bpf_map_lookup_elem(&owners, &sleeper->owner);
	node = *(volatile u32 *)&thread->node;
	if (!piece || !owner || *(volatile u64 *)&thread->state_word != sleeper->state_word ||
	    (!piece->size && sleeper->nr == 1)) {
		thread->sleeper = 0;
		/* The helper may not have come to it, because another stack held it up. */
		if (piece && !piece->size)
			look_again_in(0);
		return 0;
	}
	walk->missing = 0;
	found = walk_copy(task, thread, walk, sleeper);
	credit_pay(&walk->credit, &owner->credit, bpf_ktime_get_ns() - now + piece->ns);
	if (walk->missing && piece->size && want_piece(task, sleeper, walk->missing))
		return 0;
	thread->sleeper = 0;
	/* If others have all the pieces, it is tried again. */
	if (!found || (walk->missing && waits_state.pieces == STACK_PIECES) ||
	    thread->state_word != sleeper->state_word) {
		look_again_in(0);
		return 0;
	}
	add_class(walk, wait_word_state(sleeper->state_word));
	number = enter_wait(slot, walk, thread);
	if (number && count_elsewhere(thread, sleeper->state_word, node, number))
		thread->late = NOT_LATE;
	return 0;
}

static __always_inline void place_late(struct task_struct *task, struct thread_waits *thread)
{
	place_wait(task, thread);
	thread->sleeper = 0;
	if (with_callers && thread->late)
		find_sleeper(task, thread);
}

static __always_inline void cut_thread(struct task_struct *task, struct thread_waits *thread,
				       struct follow *follow)
{
	divide_time(thread, false);
	bill_waits(thread, task, thread->root & 1);
	if (follow->target == NO_TARGET) {
		thread->root = 0;
		return;
	}
	set_root(thread, task, follow);
}

static __always_inline void stop_thread(struct task_struct *task, struct thread_waits *thread)
{
	divide_time(thread, true);
	bill_waits(thread, task, thread->root & 1);
}

/* The cgroup of a thread has changed, and perhaps its target: see profil_move. */
static __always_inline void change_target(struct task_struct *task)
{
	struct follow *follow = bpf_task_storage_get(&follows, task, NULL, 0);
	struct thread_waits *thread = bpf_task_storage_get(&thread_waits, task, NULL, 0);
	u32 node;

	if (!follow || follow->flags & FOLLOW_FROM_EXEC)
		return;
	if (thread && thread->root) {
		cut_thread(task, thread, follow);
		node = *(volatile u32 *)&thread->node;
		if (node && thread->root)
			copy_wait(thread, node);
	} else if (follow->target != NO_TARGET) {
		begin_thread(task, follow);
	}
}

static __always_inline void visit_thread(struct task_struct *task)
{
	struct follow *follow = bpf_task_storage_get(&follows, task, NULL, 0) ?: make_follow(task);
	struct thread_waits *thread = bpf_task_storage_get(&thread_waits, task, NULL, 0);
	u32 pass = waits_state.pass;

	if (!follow || follow->flags & FOLLOW_FROM_EXEC)
		return;
	if (pass == WAITS_BEGIN || ((!thread || !thread->root) && pass == WAITS_CUT)) {
		if (follow->target != NO_TARGET)
			begin_thread(task, follow);
		return;
	}
	if (!thread || !thread->root)
		return;
	if (pass == WAITS_CUT)
		cut_thread(task, thread, follow);
	else if (pass == WAITS_MOVE)
		move_wait(thread);
	else if (pass == WAITS_PLACE)
		place_late(task, thread);
	else
		stop_thread(task, thread);
}

#endif
