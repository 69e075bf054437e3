// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "exit.bpf.h"
#include "tick.bpf.h"
#include "wait_passes.bpf.h"
#include "watch.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/*
 * A tail call that is never made, and that the verifier removes. Since 6.13, each function of a
 * program on a perf event with 64 bytes of stack or more has its stack in memory of its own on each
 * CPU: one more page that is not in the caches. In a program with a tail call, the functions stay
 * on the kernel's stack, as before. Other types of programs must not call this, because all
 * programs that share the map must be of one type.
 */
static __always_inline void keep_stack(void *ctx)
{
	if (never)
		bpf_tail_call(ctx, &no_programs, 0);
}

SEC("?perf_event")
int profil_tick(struct bpf_perf_event_data *ctx)
{
	struct tick tick;

	keep_stack(ctx);
	if (!is_passed_over())
		on_tick(arch_pc(ctx), arch_user_mode(ctx), false, &tick);
	return 0;
}

/*
 * The program for targets or splits by cgroup, and splits by thread. There are two programs,
 * because a knob would cost each hit the cache line of the knob.
 */
SEC("?perf_event")
int profil_tick_cgroup(struct bpf_perf_event_data *ctx)
{
	struct tick tick;

	keep_stack(ctx);
	if (!is_passed_over())
		on_tick(arch_pc(ctx), arch_user_mode(ctx), true, &tick);
	return 0;
}

/* The registers that a scheduler's tick interrupted, if this tick counts; else NULL. */
static __always_inline struct pt_regs___kernel *ticked(struct hrtimer *timer)
{
	if (!is_sched_tick(timer) || !bpf_get_current_task_btf()->pid ||
	    is_tickless(bpf_get_smp_processor_id()) || is_passed_over())
		return NULL;
	return interrupted(timer);
}

/*
 * Runs in the interrupt that the scheduler needs anyway: HZ times a second, and never on an idle
 * CPU.
 */
static __always_inline int on_sched_tick(struct hrtimer *timer, bool by_thread)
{
	struct pt_regs___kernel *regs = ticked(timer);
	struct tick tick;
	u64 begun;

	if (!regs)
		return 0;
	begun = watch_begin();
	on_tick(arch_saved_pc(regs), arch_saved_user_mode(regs), by_thread, &tick);
	return watch_end(begun, true);
}

SEC("?tp_btf/hrtimer_expire_entry")
int BPF_PROG(profil_sched_tick, struct hrtimer *timer)
{
	return on_sched_tick(timer, false);
}

SEC("?tp_btf/hrtimer_expire_entry")
int BPF_PROG(profil_sched_tick_cgroup, struct hrtimer *timer)
{
	return on_sched_tick(timer, true);
}

/* If the address space is gone, the chain begins where the thread's exit began. */
static __always_inline void walk_from_exit(struct walk *walk, struct task_struct *task, u32 target)
{
	struct follow *follow = bpf_task_storage_get(&follows, task, NULL, 0);

	if (follow && follow->exit_chain.node && follow->exit_chain.target == target &&
	    follow->exit_chain.generation == table_state.generation &&
	    follow->exit_chain.split == split_id())
		walk->base = follow->exit_chain.node;
}

/* Whether an exec has not yet replaced the image of these registers. */
static __always_inline bool has_old_image(struct task_struct *task)
{
	struct follow *follow = bpf_task_storage_get(&follows, task, NULL, 0);

	return follow && follow->mm == arch_mm_id(task->mm);
}

/*
 * Walks from a tick's place up. A tick in the kernel begins with one frame in mode charged, and
 * with the kernel's own frames in mode split.
 */
static __always_inline void walk_from(const struct tick *tick, struct walk *walk, u32 cpu,
				      u32 target)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct mm_struct *mm = task->mm;
	u32 nr;

	walk->base = 0;
	if (tick->fell_in_kernel && !tick->pc_is_kernel) {
		walk->sites[0] = SITE_IN_KERNEL;
		walk->nr = 1;
	}
	/*
	 * Kernel threads have no other frames. Above a kernel stack that is too deep, the user's
	 * frames are not the next ones.
	 */
	if (task->flags & TASK_KTHREAD || walk->end == END_DEEP)
		return;
	walk->end = tick->site ? END_EXEC : END_UNREADABLE;
	nr = walk->nr;
	if (!mm) {
		walk_from_exit(walk, task, target);
	} else if (tick->site && (!amid_exec(task) || has_old_image(task))) {
		begin_walk(walk, task, mm, target);
		walk_up(cpu);
	}
	/* The tick counts at its place, whatever the walk finds. */
	if (!tick->pc_is_kernel && tick->site && !walk->base && walk->nr == nr) {
		walk->sites[nr & (WALK_FRAMES - 1)] = tick->site;
		walk->nr = nr + 1;
	}
}

/*
 * Counts the chain of a tick for which on_tick() returned a target. The walk has the registers of
 * its frame.
 */
static __noinline int count_callers(void *ctx, const struct tick *tick, u32 target)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct walk *walk = bpf_map_lookup_elem(&walks, &cpu);

	if (!walk || target >= TARGETS_MAX)
		return 0;
	walk->owner = tick->owner;
	if (tick->fell_in_kernel)
		arch_return_frame(bpf_get_current_task_btf(), &walk->at);
	add_kernel_frames(ctx, cpu, walk, tick->pc_is_kernel ? tick->pc : 0);
	walk_from(tick, walk, cpu, target);
	return count_chain(cpu, target, tick->n);
}

/* The tick is in the walk, because the stack has room only for a hit. */
static __always_inline struct tick *tick_of(struct walk *walk)
{
	_Static_assert(sizeof(walk->tick) == sizeof(struct tick), "struct tick");
	return (void *)walk->tick;
}

static __always_inline int on_tick_with_callers(struct bpf_perf_event_data *ctx, bool by_thread)
{
	u32 cpu = bpf_get_smp_processor_id(), target;
	struct walk *walk = bpf_map_lookup_elem(&walks, &cpu);

	keep_stack(ctx);
	if (!walk || is_passed_over())
		return 0;
	arch_frame(ctx, &walk->at);
	target = on_tick(arch_pc(ctx), arch_user_mode(ctx), by_thread, tick_of(walk));
	return count_callers(ctx, tick_of(walk), target);
}

SEC("?perf_event")
int profil_callers(struct bpf_perf_event_data *ctx)
{
	return on_tick_with_callers(ctx, false);
}

SEC("?perf_event")
int profil_callers_cgroup(struct bpf_perf_event_data *ctx)
{
	return on_tick_with_callers(ctx, true);
}

static __always_inline int on_sched_callers(void *ctx, struct hrtimer *timer, bool by_thread)
{
	struct pt_regs___kernel *regs = ticked(timer);
	u32 cpu = bpf_get_smp_processor_id(), target;
	struct walk *walk;

	if (!regs)
		return 0;
	walk = bpf_map_lookup_elem(&walks, &cpu);
	if (!walk)
		return 0;
	walk->begun = watch_begin();
	arch_saved_frame(regs, &walk->at);
	target = on_tick(arch_saved_pc(regs), arch_saved_user_mode(regs), by_thread, tick_of(walk));
	count_callers(ctx, tick_of(walk), target);
	return watch_end(walk->begun, true);
}

SEC("?tp_btf/hrtimer_expire_entry")
int BPF_PROG(profil_sched_callers, struct hrtimer *timer)
{
	return on_sched_callers(ctx, timer, false);
}

SEC("?tp_btf/hrtimer_expire_entry")
int BPF_PROG(profil_sched_callers_cgroup, struct hrtimer *timer)
{
	return on_sched_callers(ctx, timer, true);
}

static __always_inline bool is_text_wanted(struct task_struct *task)
{
	return (u32)task->tgid == table_state.preloaded_by || follow_of(task) ||
	       place_target(task) != NO_TARGET;
}

/*
 * Announces the text that targets have mapped before the first tick, so that user space has its
 * rules by then. User space repeats this until all of it is announced.
 */
SEC("?iter/task_vma")
int profil_texts(struct bpf_iter__task_vma *ctx)
{
	struct vm_area_struct *vma = ctx->vma;
	struct task_struct *task = ctx->task;
	struct mapping mapping = {};

	if (!task || !vma || !BPF_CORE_READ(vma, vm_file) || !is_text_wanted(task))
		return 0;
	announce_mapping(task, vma, &mapping);
	if (mapping.exec && !bpf_map_lookup_elem(&spaces, &mapping.space))
		table_state.texts_unannounced++;
	return 0;
}

/* Fills in the record with which a child starts. False: the child is not followed. */
static __always_inline bool inherit(struct task_struct *parent, struct task_struct *child,
				    struct follow *result)
{
	struct follow *from = follow_of(parent);
	bool thread = child->tgid == parent->tgid;

	if (from && from->flags & FOLLOW_NO_CHILDREN && !thread)
		from = NULL;
	if (found_by_place(from)) {
		/*
		 * A thread gets its record at its first tick, because most threads end without one.
		 */
		result->target = thread ? NO_TARGET : place_target(child);
		result->flags = FOLLOW_BY_PLACE;
		return result->target != NO_TARGET;
	}
	if (!from)
		return false;
	result->target = from->target;
	result->flags = from->flags & (FOLLOW_FROM_EXEC | FOLLOW_NO_CHILDREN);
	return true;
}

static __always_inline void follow_child(struct task_struct *parent, struct task_struct *child)
{
	struct target_account *account;
	struct follow fresh = {};
	u32 target;

	if (without_text(child) || !inherit(parent, child, &fresh))
		return;
	fresh.mm = arch_task_mm_id(child);
	fresh.split = task_split(child);
	if (bpf_task_storage_get(&follows, child, &fresh, BPF_LOCAL_STORAGE_GET_F_CREATE))
		return;
	target = fresh.target;
	account = bpf_map_lookup_elem(&target_accounts, &target);
	if (account)
		__sync_fetch_and_add(&account->forks_missed, 1);
}

/* A child, be it a thread or a process, is followed before its first instruction. */
SEC("?tp_btf/sched_process_fork")
int BPF_PROG(profil_fork, struct task_struct *parent, struct task_struct *child)
{
	return WATCHED(follow_child(parent, child));
}

/*
 * Whether to follow a running thread, and how: its process is a target, or a child of a followed
 * one.
 */
static __always_inline bool wanted(struct task_struct *task, struct attached *result)
{
	struct task_struct *parent = task->real_parent;
	u32 pid = task->tgid;
	struct attached *as = bpf_map_lookup_elem(&attached, &pid);
	struct follow *from;

	if (as) {
		*result = *as;
		return true;
	}
	from = parent ? follow_of(parent) : NULL;
	if (!from || from->flags & (FOLLOW_BY_PLACE | FOLLOW_NO_CHILDREN))
		return false;
	result->target = from->target;
	result->flags = 0;
	return true;
}

/*
 * Follows running processes that are targets, and their descendants, with all their threads, as if
 * each had just begun. The iterator may show a child before its parent, and processes that are not
 * followed yet continue to fork. Therefore user space repeats this until a pass finds nothing new.
 */
SEC("?iter/task")
int profil_attach(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct follow fresh = {}, *follow;
	struct attached as;

	if (!task)
		return 0;
	follow = bpf_task_storage_get(&follows, task, NULL, 0);
	if ((follow && !(follow->flags & FOLLOW_BY_PLACE)) || !wanted(task, &as))
		return 0;
	fresh.mm = settled_mm(task);
	/*
	 * There may be no record, because there is no memory or because another program makes the
	 * task's first one on another CPU. User space walks again, and then checks whether it is
	 * there.
	 */
	cpu_time.attached++;
	follow = bpf_task_storage_get(&follows, task, &fresh, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!follow)
		return 0;
	follow->target = as.target;
	follow->flags = as.flags;
	follow->split = task_split(task);
	return 0;
}

/*
 * Visits all threads of the host when their runtime begins to count, before and after times
 * without ticks, and before a profile is made.
 */
SEC("iter/task")
int profil_pass(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct follow *follow;

	if (!task || without_text(task))
		return 0;
	follow = bpf_task_storage_get(&follows, task, NULL, 0) ?: make_follow(task);
	if (!follow)
		return 0;
	if (follow->flags & FOLLOW_EXITING)
		cpu_time.zombies++;
	if (follow->flags & FOLLOW_FROM_EXEC)
		return 0;
	if (cpu_time.kind == PASS_BEGIN) {
		follow->spent = task->se.sum_exec_runtime;
		weigh_from(&follow->weight, task, follow->spent);
		return 0;
	}
	if (cpu_time.kind == PASS_TICKS_OFF || cpu_time.kind == PASS_TICKS_ON) {
		weigh_ticks_off(&follow->weight, task, cpu_time.period_ns, runtime_lag,
				cpu_time.kind == PASS_TICKS_OFF);
		return 0;
	}
	settle_runtime(task, follow);
	update_target(task, follow);
	return 0;
}

/*
 * The thread's runtime from here on belongs to its new cgroup. The kernel reports only the first
 * thread of a process. The others are recognised by the time of the move: see make_follow().
 */
SEC("?tp_btf/cgroup_attach_task")
int BPF_PROG(profil_move, struct cgroup *cgroup, const char *path, struct task_struct *task)
{
	struct follow *follow = bpf_task_storage_get(&follows, task, NULL, 0);

	if (follow) {
		update_target(task, follow);
		follow->moved_ns = bpf_ktime_get_ns();
		return 0;
	}
	follow = make_follow(task);
	if (!follow)
		return 0;
	follow->moved_ns = bpf_ktime_get_ns();
	/*
	 * The thread had no tick, and its cgroup until now is unknown. If that may be outside all
	 * targets, its time does not count for this target. Otherwise it does, so that no time is
	 * missing.
	 */
	if (system_target == NO_TARGET) {
		follow->spent = task->se.sum_exec_runtime;
		weigh_from(&follow->weight, task, follow->spent);
	}
	return 0;
}

/* Also runs for an exec, which renames its thread. */
SEC("?tp_btf/task_rename")
int BPF_PROG(profil_rename, struct task_struct *task, const char *name)
{
	rename_split(task, name, follow_of(task));
	return 0;
}

/*
 * Announces a new image's file and its interpreter, whose first instructions may have a tick. Most
 * executed files have no tick. Therefore an owner without a number for another file must wait until
 * the file has a tick.
 */
static __noinline int announce_image(struct task_struct *task)
{
	u64 places[] = { arch_return_pc(task), BPF_CORE_READ(task, mm, start_code) };
	u32 i;

	if (!may_number(owner_of(NULL, task)))
		return 0;
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct mapping mapping = {};

		find_mapping(&mapping, places[i]);
	}
	return 0;
}

/* Ticks that waited for a mapping are lost with it. */
static __noinline int lose(struct pending_ticks *slot)
{
	u32 target = slot->target, n;
	struct target_account *account = bpf_map_lookup_elem(&target_accounts, &target);

	if (!slot->count || !account)
		return 0;
	n = drain(slot);
	__sync_fetch_and_add(&account->lost[LOST_MAPPING_BUSY], n);
	return 0;
}

/*
 * The new image is in place and its first pc is known. The ticks of the exec itself count for that
 * pc, which has no callers.
 */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(profil_exec, struct task_struct *task)
{
	struct follow *follow = bpf_task_storage_get(&follows, task, NULL, 0);

	if (!follow)
		return 0;
	if (follow->flags & FOLLOW_FROM_EXEC) {
		follow->spent = task->se.sum_exec_runtime;
		follow->split = task_split(task);
		weigh_from(&follow->weight, task, follow->spent);
	}
	follow->flags &= ~FOLLOW_FROM_EXEC;
	follow->mm = arch_task_mm_id(task);
	lose(&follow->pending[0]);
	lose(&follow->pending[1]);
	settle(&follow->exec, arch_return_pc(task), END_COMPLETE);
	if (waits)
		start_command(task, follow);
	return with_callers || waits ? announce_image(task) : 0;
}

/*
 * The last event of a thread, some time after it was reaped. Its runtime up to here is what its
 * parent sees, and includes the teardown of its address space.
 */
static __always_inline void end_thread(struct task_struct *task)
{
	struct follow *follow = bpf_task_storage_get(&follows, task, NULL, 0);

	if (!follow)
		return;
	settle_runtime(task, follow);
	if (waits)
		end_waits(task);
	if (follow->flags & FOLLOW_EXITING)
		__sync_fetch_and_add(&cpu_time.freed, 1);
}

SEC("tp_btf/sched_process_free")
int BPF_PROG(profil_free, struct task_struct *task)
{
	return WATCHED(end_thread(task));
}

SEC("?tp_btf/sched_process_exit")
int BPF_PROG(profil_exit, struct task_struct *task)
{
	return WATCHED(begin_exit(task));
}

/*
 * Does the same for kernels before 6.16, whose tracepoint comes after exit_mm. exit_mm calls this
 * function first, whether the task has an address space or not: see engine/kernel_btf.h.
 */
SEC("?fentry/exit_mm_release")
int BPF_PROG(profil_exit_mm, struct task_struct *task)
{
	return WATCHED(begin_exit(task));
}

/* With --waits: the events by which the state of a thread changes. */
SEC("?tp_btf/sched_switch")
int BPF_PROG(profil_switch, bool preempted, struct task_struct *prev, struct task_struct *next)
{
	u64 now;

	if (!waits_state.on)
		return 0;
	now = bpf_ktime_get_ns();
	leave_cpu(prev, preempted, now);
	enter_cpu(next, now);
	return 0;
}

SEC("?tp_btf/sched_wakeup")
int BPF_PROG(profil_wakeup, struct task_struct *task)
{
	if (waits_state.on)
		wake(task);
	return 0;
}

/* After profil_fork, if that is attached. */
SEC("?tp_btf/sched_process_fork")
int BPF_PROG(profil_waits_fork, struct task_struct *parent, struct task_struct *child)
{
	if (!without_text(child))
		start_child(child);
	return 0;
}

/* After profil_move. */
SEC("?tp_btf/cgroup_attach_task")
int BPF_PROG(profil_waits_move, struct cgroup *cgroup, const char *path, struct task_struct *task)
{
	change_target(task);
	return 0;
}

SEC("?iter/task")
int profil_waits_pass(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task && !without_text(task))
		visit_thread(task);
	return 0;
}

/* Finds the callers of sleepers. It is a program of its own, because a walk needs most of the stack. */
SEC("?iter/task")
int profil_sleepers(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct thread_waits *thread;

	thread = task ? bpf_task_storage_get(&thread_waits, task, NULL, 0) : NULL;
	if (thread && thread->root && thread->sleeper)
		walk_sleeper(task, thread);
	return 0;
}
