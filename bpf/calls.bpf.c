// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The BPF program of profil(), sprofil() and pcsample().
 *
 * A process that calls one of these has a call (the struct): a table of its regions, and counters.
 * The server (user/calls) makes the call and stores a reference to it at the process's first
 * thread. From then on, everything happens here:
 *
 *     tick        call_tick()    pc ── call_table ── region ── bin ── page of counters
 *     fork        call_fork()    the child gets a call of its own, or joins the parent's
 *     exec, exit  leave()        the process leaves the call; the last one ends it
 *
 * The counters are in the kernel, 1,024 to a page. After a tick, the server gets a record, and
 * within 50 ms it adds the counts to the caller's buffer and clears them (user/calls/caller.c). A
 * call that counts up to a limit, and pcsample(), end at the very tick that fills a counter or the
 * buffer. For these, the counters here are absolute values and not increments.
 *
 * Slots of `calls` are reused. Therefore a reference has the slot and a serial number. A reference
 * with another serial is dead, and its process no longer has a call.
 *
 * The server may switch a call off at any moment. It must not free its lines and pages while a tick
 * still uses them: see tick().
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "arch.bpf.h"
#include "call_count.bpf.h"
#include "call_inherit.bpf.h"
#include "compat.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

static __always_inline struct call *call_of(const struct call_ref *ref)
{
	u32 slot = ref->slot;
	struct call *call = bpf_map_lookup_elem(&calls, &slot);

	return call && call->serial == ref->serial ? call : NULL;
}

/* How long a tick of each clock is. Set before load. */
const volatile __u64 clock_periods[CALL_CLOCKS] = {};

/* The pc is always the user's: a tick in the kernel counts for the pc to which it will return. */
static __always_inline void call_tick(struct bpf_perf_event_data *ctx, struct task_struct *task,
				      const struct call_ref *ref, u32 clock)
{
	struct call *call = call_of(ref);
	bool user = arch_user_mode(ctx);
	u64 pc;
	u32 n;

	if (!call || call->phase != CALL_ON || (call->flags & CALL_IS_FAST) != clock)
		return;
	n = weigh_call_tick(ref, task, clock_periods[clock]);
	if (!n)
		return;
	__sync_fetch_and_add(&call->ticks, n);
	/*
	 * The pc may be the new program's, and the call ends only when the kernel reports the exec.
	 */
	if (amid_exec(task)) {
		__sync_fetch_and_add(&call->in_exec, n);
		return;
	}
	if (!user && call->flags & CALL_SKIPS_KERNEL) {
		__sync_fetch_and_add(&call->filtered, n);
		return;
	}
	pc = user ? arch_pc(ctx) : arch_return_pc(task);
	if (call->flags & CALL_STORES_PCS)
		store_pcs(call, ref->slot, pc, n);
	else
		count_pc(call, ref->slot, pc, n);
	mark_dirty(call, ref->slot);
}

/*
 * The handler counts itself as entered before it looks up the call, and the atomic add is a full
 * barrier. When user space has switched a call off, it waits until each handler that may have seen
 * the call has counted itself as exited.
 */
static __always_inline int tick(struct bpf_perf_event_data *ctx, u32 clock)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u32 cpu = bpf_get_smp_processor_id();
	struct call_ref *ref;
	struct call_cpu *handlers;

	/*
	 * A task without an address space is a kernel thread, or is past its last user instruction.
	 */
	if (!task->mm)
		return 0;
	handlers = bpf_map_lookup_elem(&call_cpus, &cpu);
	if (!handlers)
		return 0;
	__sync_fetch_and_add(&handlers->entered, 1);
	ref = bpf_task_storage_get(&call_refs, task->group_leader, NULL, 0);
	if (ref)
		call_tick(ctx, task, ref, clock);
	__sync_fetch_and_add(&handlers->exited, 1);
	return 0;
}

SEC("perf_event")
int call_tick_normal(struct bpf_perf_event_data *ctx)
{
	return tick(ctx, CALL_IS_NORMAL);
}

SEC("perf_event")
int call_tick_fast(struct bpf_perf_event_data *ctx)
{
	return tick(ctx, CALL_IS_FAST);
}

/*
 * Frees a slot at once if serve has no page of the call and has not seen it. Otherwise serve frees
 * it.
 */
static __always_inline void release(struct call *call, u32 slot)
{
	u32 spec_number = call->spec, owner_number = call->owner;
	struct call_spec *spec;
	struct call_owner *owner;

	if (call->first_page || __sync_val_compare_and_swap(&call->known, CALL_UNKNOWN,
							    CALL_RELEASED) != CALL_UNKNOWN) {
		send_record(CALL_GONE, slot, call->serial);
		return;
	}
	spec = bpf_map_lookup_elem(&call_specs, &spec_number);
	owner = bpf_map_lookup_elem(&call_owners, &owner_number);
	if (!spec || !owner)
		return;
	__sync_fetch_and_sub(&spec->calls, 1);
	call_share_release(&owner->calls, &globals.calls);
	call->phase = CALL_FREE;
	bpf_map_push_elem(&free_calls, &slot, 0);
}

static __always_inline void leave_call(const struct call_ref *ref)
{
	struct call *call = call_of(ref);

	if (!call || __sync_fetch_and_sub(&call->users, 1) != 1)
		return;
	switch_off(call);
	release(call, ref->slot);
}

/* Only the CPU that deletes the reference leaves the call. */
static __always_inline void leave(struct task_struct *leader)
{
	struct call_ref *ref = bpf_task_storage_get(&call_refs, leader, NULL, 0), held;

	if (!ref)
		return;
	held.serial = ref->serial;
	held.slot = __sync_lock_test_and_set(&ref->slot, CALL_ENDED);
	bpf_task_storage_delete(&call_refs, leader);
	if (held.slot != CALL_ENDED)
		leave_call(&held);
}

enum { PID_LEVELS = 32 };

/* Gives the child a call like the parent's, with counters that start at zero. */
static __always_inline void init_child_call(struct call *call, const struct call *parent)
{
	__builtin_memset(call, 0, sizeof(*call));
	call->flags = parent->flags;
	call->users = 1;
	call->table = parent->table;
	call->capacity = parent->capacity;
	call->next = parent->next;
	call->copied = parent->copied;
	call->inherited = parent->next;
	call->spec = parent->spec;
	call->owner = parent->owner;
}

/* The inode of the server's pid namespace; 0: the host's own. Set before load. */
const volatile __u32 pid_namespace = 0;

/* The pid by which the server sees a process; 0: the server cannot see it. */
static __always_inline u32 seen_pid(struct task_struct *task)
{
	struct pid *pid = task->thread_pid;
	struct upid number;
	u32 level;

	if (!pid_namespace)
		return task->tgid;
	for (level = 0; level < PID_LEVELS && level <= pid->level; level++) {
		if (bpf_core_read(&number, sizeof(number), &pid->numbers[level]))
			return 0;
		if (BPF_CORE_READ(number.ns, ns.inum) == pid_namespace)
			return number.nr;
	}
	return 0;
}

/* The number of call slots. Set before load. */
const volatile __u32 max_calls = 0;

/* Claims a slot and a part of the user's share. False: the child gets no call. */
static __always_inline bool claim_slot(const struct call *parent, u32 *slot)
{
	u32 at = parent->owner;
	struct call_owner *owner = bpf_map_lookup_elem(&call_owners, &at);

	if (!owner ||
	    !call_share_acquire(&owner->calls, owner->call_limit, &globals.calls, max_calls))
		return false;
	if (!bpf_map_pop_elem(&free_calls, slot))
		return true;
	call_share_release(&owner->calls, &globals.calls);
	return false;
}

/*
 * Whether the parent's buffer may have lacked counts, which were still in the kernel, while the
 * child's copy of it was made.
 */
static __always_inline bool buffer_lacks_counts(const volatile struct call *parent, u64 now)
{
	/* The order matters: user space sets each of these before it clears the one to its left. */
	return parent->dirty || parent->copying || now - parent->copied_ns < CALL_FORK_NS;
}

static __always_inline void fork_call(struct call *parent, const struct call_ref *parent_ref,
				      struct task_struct *child)
{
	struct page_copy copy = { .next = parent->first_page, .task = child };
	u64 now = bpf_ktime_get_ns();
	bool lacks_counts = buffer_lacks_counts(parent, now);
	struct call_spec *spec;
	struct call_ref ref = {};
	struct call *call;
	u32 number = parent->spec;

	spec = bpf_map_lookup_elem(&call_specs, &number);
	if (!spec || !claim_slot(parent, &ref.slot)) {
		__sync_fetch_and_add(&globals.unfollowed, 1);
		return;
	}
	number = ref.slot;
	call = bpf_map_lookup_elem(&calls, &number);
	if (!call)
		return;
	ref.serial = __sync_fetch_and_add(&globals.serial, 1) + 1;
	init_child_call(call, parent);
	call->parent = *parent_ref;
	call->born_ns = now;
	call->tgid = seen_pid(child);
	call->serial = ref.serial;
	__sync_fetch_and_add(&spec->calls, 1);
	copy.child = call;
	copy.slot = ref.slot;
	/*
	 * The child's buffer may lack counts of the parent, or its counters are absolute and stay in
	 * the kernel.
	 */
	if (copy.next && (lacks_counts || call->flags & (CALL_HAS_LIMIT | CALL_STORES_PCS)))
		bpf_loop(CALL_FORK_PAGES, copy_page, &copy, 0);
	call->born_until_ns = bpf_ktime_get_ns();
	__sync_fetch_and_add(&globals.running[call->flags & CALL_IS_FAST], 1);
	call->phase = CALL_ON;
	if (!bpf_task_storage_get(&call_refs, child, &ref, BPF_LOCAL_STORAGE_GET_F_CREATE))
		leave_call(&ref);
	else if (lacks_counts)
		mark_dirty(call, ref.slot);
}

/* Two processes then have one call. */
static __always_inline void join_call(struct call *call, const struct call_ref *ref,
				      struct task_struct *child)
{
	struct call_ref shared = *ref;

	__sync_fetch_and_add(&call->users, 1);
	if (!bpf_task_storage_get(&call_refs, child, &shared, BPF_LOCAL_STORAGE_GET_F_CREATE))
		leave_call(&shared);
}

/*
 * The child still believes that it has the parent's call. This reference shows that the call has
 * ended. Without any reference, the child would have lost its server (call_abi.h).
 */
static __always_inline void mark_without_call(struct task_struct *child)
{
	struct call_ref ended = { .slot = CALL_ENDED };

	bpf_task_storage_get(&call_refs, child, &ended, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/*
 * The child of a fork counts into its own copy of the buffer. Children that share the address
 * space, as after vfork, count into the shared buffer until they execute another program. Threads
 * find the call through the first thread.
 */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(call_fork, struct task_struct *parent, struct task_struct *child)
{
	struct call_ref *ref = bpf_task_storage_get(&call_refs, parent->group_leader, NULL, 0);
	u32 cpu = bpf_get_smp_processor_id();
	struct call_cpu *handlers = bpf_map_lookup_elem(&call_cpus, &cpu);
	struct call *call;

	if (!ref || !handlers || child->tgid == parent->tgid)
		return 0;
	__sync_fetch_and_add(&handlers->fork_entered, 1);
	call = call_of(ref);
	if (call && call->phase == CALL_ON) {
		if (child->mm != parent->mm)
			fork_call(call, ref, child);
		else
			join_call(call, ref, child);
	} else {
		mark_without_call(child);
	}
	__sync_fetch_and_add(&handlers->fork_exited, 1);
	return 0;
}

/* An exec ends profiling. By now the executing thread has become the process's first thread. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(call_exec, struct task_struct *task)
{
	leave(task);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(call_exit, struct task_struct *task)
{
	if (!BPF_CORE_READ(task, signal, live.counter))
		leave(task->group_leader);
	return 0;
}

/* After an exec by another thread, the former first thread ends here and drops its reference. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(call_free, struct task_struct *task)
{
	leave(task);
	return 0;
}
