/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TICK_BPF_H
#define BPFPROFIL_TICK_BPF_H

/*
 * A tick, from its pc to its node.
 *
 * This runs in an interrupt. At 99 Hz hardly anything that it needs is in the CPU's caches, and the
 * cache lines that it reads cost more than its instructions. There are two paths:
 *
 *     on_tick()
 *       read_tick()            whose pc counts: the user's or the kernel's
 *       count_hit()            the text around the pc is in the cache (ranges.bpf.h)
 *         ticks_of_sample()    how many ticks the sample stands for (weight.bpf.h)
 *         count_in_line()      one atomic add in the node (nodes.bpf.h)
 *       or slow_tick()         it is not
 *         find the target, then the mapping, its text, its root; make a range for the next tick
 *
 * A hit uses these lines: the thread's record (struct follow), the range, the node, and some global
 * data that all ticks share. A miss may also end without a place: the thread is in no target, it is
 * in an exec or past its exit, or its mapping cannot be read now. In the last case the tick waits
 * in the thread's record until a later tick finds the mapping (follow.bpf.h).
 *
 * With callers, a hit does not count in a node. It leaves its site in struct tick, and the walk up
 * the stack begins there (host.bpf.c).
 */
#include "follow.bpf.h"
#include "nodes.bpf.h"
#include "source.bpf.h"
#include "weight.bpf.h"

/* The result of a tick, in place of the number of its target. */
enum tick_result {
	TICK_MISSED = TARGETS_MAX, /* its text is not in the cache: see slow_tick() */
	TICK_UNPLACED, /* it is in no target, filtered, deferred or lost */
	TICK_IGNORED, /* its sample stands for no tick */
};

/* Adds to the sum that variances are computed from: ticks of one sample are not independent. */
static __noinline int note_excess(u32 target, u32 n)
{
	struct target_account *account = bpf_map_lookup_elem(&target_accounts, &target);

	if (account)
		__sync_fetch_and_add(&account->excess, (u64)n * (n - 1));
	return 0;
}

/*
 * How many ticks a sample in the current thread stands for. Ticks in the kernel are added up in the
 * thread's record, which a sample writes anyway.
 */
__noinline u32 ticks_of_sample(struct follow *follow, bool in_kernel)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u64 lag = is_tickless(bpf_get_smp_processor_id()) ? 0 : runtime_lag;
	u64 period = cpu_time.period_ns;
	u32 n = 1;

	if (!follow)
		return 1;
	if (period)
		n = weigh_sample(&follow->weight, task, period, lag);
	if (unweighted)
		n = 1;
	if (n > 1)
		note_excess(follow->target, n);
	if (in_kernel)
		follow->kernel += n;
	return n;
}

/* The kernel's text is one range: the GiB around the pc. */
enum { KERNEL_RANGE_SHIFT = 30 };

static __always_inline void kernel_mapping(u64 pc, struct mapping *mapping)
{
	mapping->start = pc & ~((1ULL << KERNEL_RANGE_SHIFT) - 1);
	mapping->end = mapping->start + (1ULL << KERNEL_RANGE_SHIFT);
	mapping->offset = mapping->start & SITE_OFFSET_MASK;
	mapping->space.kind = SPACE_KERNEL;
	mapping->exec = MAPPING_EXEC | MAPPING_ANNOUNCED;
}

/* Whether the task is still in the tick's cgroup. Another CPU can move it at any moment. */
static __noinline bool is_in_cgroup_of(const struct tick *tick, struct task_struct *task)
{
	if (split != SPLIT_CGROUP && !cgroup_wanted)
		return true;
	return tick->who == thread_who(tick_who(arch_task_mm_id(task), task->tgid));
}

static __always_inline struct known_file *known_file_slot(u64 inode)
{
	u32 slot = bpf_get_smp_processor_id() << KNOWN_FILES_SHIFT |
		   (u32)(inode * 0x9e3779b97f4a7c15ULL >> (64 - KNOWN_FILES_SHIFT));

	return bpf_map_lookup_elem(&known_files, &slot);
}

/* Bits of the superblock's address, which differ between file systems. */
static __always_inline u32 device_of(u64 inode)
{
	return (u64)BPF_CORE_READ((struct inode *)inode, i_sb) >> 4;
}

static __always_inline void remember_file(const struct space *space, const struct text_range *range)
{
	struct known_file *known = known_file_slot(space->a);

	if (!known)
		return;
	known->inode = space->a;
	known->number = space->b;
	known->generation = space->generation;
	known->device = device_of(space->a);
	known->epoch = range->epoch;
	known->text = range_text(range);
}

/*
 * Makes a range of the mapping around a pc if this CPU's ticks have seen its file. Most new
 * processes run such files, and then neither the file's state nor its number is looked up. False:
 * the file is another one.
 */
static __noinline bool range_of_known_file(u64 pc, u32 epoch, struct text_range *range)
{
	struct mm_struct *mm = BPF_CORE_READ(bpf_get_current_task_btf(), mm);
	struct vm_area_struct *vma = mm ? maple_find_vma(mm, pc) : NULL;
	struct file *file = vma ? BPF_CORE_READ(vma, vm_file) : NULL;
	struct inode *inode = file ? BPF_CORE_READ(file, f_inode) : NULL;
	struct known_file *known = inode ? known_file_slot((u64)inode) : NULL;
	u64 offset;

	if (!known || known->inode != (u64)inode || known->epoch != epoch ||
	    known->number != BPF_CORE_READ(inode, i_ino) ||
	    known->device != device_of((u64)inode) ||
	    known->generation != BPF_CORE_READ(inode, i_generation) ||
	    !(BPF_CORE_READ(vma, vm_flags) & MAPPING_EXEC))
		return false;
	range->start = BPF_CORE_READ(vma, vm_start);
	range->pages = (BPF_CORE_READ(vma, vm_end) - range->start) >> TEXT_PAGE_SHIFT;
	offset = BPF_CORE_READ(vma, vm_pgoff) << page_shift;
	if (!fits_in_sites(offset, BPF_CORE_READ(vma, vm_end) - range->start))
		return false;
	range->to_site = ((u64)known->text << SITE_OFFSET_BITS) + (offset - range->start);
	range->vma = (u64)vma;
	range->inode = (u64)inode;
	range->epoch = epoch;
	range->seen = 0;
	return true;
}

/*
 * Looks up the mapping around a tick's pc, and makes a range of it. It returns -EBUSY if the
 * mapping cannot be read now, and -ENOENT if there is no text. It is a function of its own to save
 * stack.
 */
static __noinline int lookup_range(const struct tick *tick, struct text_range *range)
{
	u32 epoch = *(volatile u32 *)&table_state.epoch;
	struct mapping mapping = {};
	int ret = 0;

	if (tick->pc_is_kernel)
		kernel_mapping(tick->pc, &mapping);
	else if (range_of_known_file(tick->pc, epoch, range))
		return 0;
	else
		ret = find_mapping(&mapping, tick->pc);
	if (ret)
		return ret;
	if (!range_of_mapping(&mapping, epoch, range))
		return -ENOENT;
	if (mapping.space.kind == SPACE_FILE && range->epoch == epoch)
		remember_file(&mapping.space, range);
	return 0;
}

/* Counts n ticks outside of all text. */
static __always_inline void count_outside(struct target_account *account, u32 target, u32 n)
{
	__sync_fetch_and_add(&account->outside, n);
	note_unbinned(target, n);
}

/*
 * Returns the site of a tick in a task without an address space: its last user pc was translated
 * when its exit began. 0: the tick is lost.
 */
static __always_inline u64 exit_site(struct follow *follow, struct target_account *account, u32 n)
{
	struct space space = follow->exit.space; /* 6.1 accepts no pointer argument as a map key */
	u32 text;
	u64 site;

	if (!space.kind) {
		__sync_fetch_and_add(&account->lost[LOST_EXIT], n);
		note_unbinned(follow->target, n);
		return 0;
	}
	text = text_of(&space);
	if (!text)
		return SITE_OF_OTHER;
	site = make_site(text, follow->exit.offset);
	return with_callers ? site : site & ~((1ULL << bin_shift) - 1);
}

/* The owner of the process of a range. */
static __noinline u32 range_owner(struct text_range *range)
{
	if (range->owner == NO_OWNER)
		range->owner = owner_of_current();
	return range->owner;
}

/* Counts n ticks at a site of a range. False: they are lost. */
__noinline int count_at(struct text_range *range, u64 site, u32 n)
{
	if (!range)
		return false;
	return count_below(range->root, site, range_owner(range), n) ||
	       count_unplaced(range->target, n);
}

/* The cache line that most likely has the node of a site below a root. */
static __always_inline struct node_line *first_line(u32 root, u64 site)
{
	u32 half = half_of(root), mask = node_mask(half);

	return line_at(half, line_index(node_hash(site, root), 0, mask), mask);
}

/*
 * Counts n ticks at a site below a root if its node is in this line. It is inlined, because a call
 * takes a tenth of a hit's time.
 */
static __always_inline bool count_in_line(struct node_line *line, u32 root, u64 site, u32 n)
{
	struct table_node *node;
	u32 i;

	for (i = 0; line && i < NODES_OF_LINE; i++) {
		node = &line->node[i];
		if (node->site != site || node->parent != root)
			continue;
		if (count_wraps(node, n))
			carry(child_node(root, site, NO_OWNER));
		return true;
	}
	return false;
}

/*
 * Finds the site of a tick that is not in the cache, and without callers counts it there. False: it
 * was deferred or lost.
 */
static __always_inline bool count_miss(struct tick *tick, struct follow *follow,
				       struct target_account *account)
{
	struct text_range range = {}, *place;
	bool counted = true;
	int ret;

	/* See read_tick(): the stamp was read before the mapping. */
	range.who = tick->who;
	range.stamp = tick->stamp;
	ret = lookup_range(tick, &range);
	if (ret == -EBUSY) {
		defer_busy(follow, account, tick->pc, tick->n);
		return false;
	}
	if (ret) {
		count_outside(account, follow->target, tick->n);
		return true;
	}
	range.target = follow->target;
	range.owner = NO_OWNER;
	tick->site = range_place(&range, tick->pc);
	if (!with_callers) {
		range.owner = owner_of_current();
		range.root = owned_root(root_parent(follow->target, END_FLAT), range.owner);
		counted = count_at(&range, tick->site, tick->n);
	}
	if (!tick->unclassified && is_in_cgroup_of(tick, bpf_get_current_task_btf())) {
		place = range_place_for(bpf_get_smp_processor_id(), tick->who, tick->pc);
		if (place)
			range_put(place, &range);
	}
	settle_within(&follow->pending[0], &range);
	settle_within(&follow->pending[1], &range);
	return counted;
}

/*
 * Returns whether the pc may be of an image that an exec has just replaced. If the record was made
 * during an exec, notes its address space once the exec is over.
 */
static __always_inline bool update_image(struct follow *follow, struct task_struct *task, u64 mm)
{
	if (!follow->mm && !amid_exec(task))
		follow->mm = mm;
	return follow->mm != mm;
}

/*
 * Handles a tick that is not in the cache. Returns its target if the tick has a place or is outside
 * of all text, else TICK_UNPLACED. This function and count_hit() are global, so that the verifier
 * checks each of them once and not for every path to it.
 */
__noinline u32 slow_tick(struct tick *tick, struct follow *follow, bool filtered)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct target_account *account;
	struct cpu_account *cpu_account;
	u32 target, cpu = bpf_get_smp_processor_id();
	bool counted = false;

	if (!tick || !follow || follow->flags & FOLLOW_FROM_EXEC)
		return TICK_UNPLACED;
	target = follow->target;
	account = bpf_map_lookup_elem(&target_accounts, &target);
	cpu_account = bpf_map_lookup_elem(&cpu_accounts, &cpu);
	if (!account || !cpu_account)
		return TICK_UNPLACED;
	touch(account);
	touch(cpu_account);
	if (!tick->n)
		tick->n = ticks_of_sample(follow, tick->fell_in_kernel);
	if (!tick->n)
		return TICK_IGNORED;
	cpu_account->misses++;
	cpu_account->miss_ticks += tick->n;
	__sync_fetch_and_add(&account->ticks, tick->n);
	if (filtered) {
		__sync_fetch_and_add(&account->filtered, tick->n);
		note_unbinned(target, tick->n);
	} else if (!tick->mm && !tick->pc_is_kernel) {
		tick->site = exit_site(follow, account, tick->n);
		counted = tick->site &&
			  (with_callers || count_site(target, END_FLAT, tick->site, tick->n));
	} else if (!tick->pc_is_kernel && update_image(follow, task, tick->mm)) {
		defer_exec(follow, account, tick->n);
	} else {
		counted = count_miss(tick, follow, account);
	}
	return counted ? target : TICK_UNPLACED;
}

/*
 * Sets the pc that the tick counts for: the user's, or with --mode split the kernel's for a tick in
 * the kernel. The stamp is read before the mapping: if the mapping changes in between, the range
 * has an old stamp and is checked again.
 */
static __always_inline void read_tick(struct task_struct *task, struct mm_struct *mm, u64 pc,
				      bool user, bool by_thread, struct tick *tick)
{
	tick->n = 0; /* not weighed yet */
	tick->site = 0;
	tick->owner = NO_OWNER;
	tick->unclassified = false;
	tick->fell_in_kernel = !user;
	/* `user` is tested first: then a user tick does not read the cache line of the knobs. */
	tick->pc_is_kernel = !user && mode == MODE_KERNEL_APART;
	tick->pc = user || tick->pc_is_kernel ? pc : arch_return_pc(task);
	tick->mm = mm ? arch_mm_id(mm) : 0;
	tick->who = tick_who(tick->mm, task->tgid);
	if (by_thread)
		tick->who = thread_who(tick->who);
	tick->stamp = tick->pc_is_kernel || !mm ? STAMP_KERNEL : mm_stamp(mm);
}

/*
 * Counts a tick whose text is in the cache. Returns its target, or TICK_MISSED or TICK_IGNORED. It
 * is a function of its own, so that its stack does not add to slow_tick()'s.
 */
__noinline u32 count_hit(struct tick *tick, struct follow *follow)
{
	struct node_line *line = NULL;
	struct text_range *range;
	u64 site;

	if (!tick)
		return TICK_MISSED;
	range = range_find(bpf_get_smp_processor_id(), tick->who, tick->pc, tick->stamp);
	if (!range)
		return TICK_MISSED;
	site = range_site(range, tick->pc);
	if (!with_callers) {
		line = first_line(range->root, site);
		if (line)
			touch(line);
	}
	if (!follow)
		follow = make_follow(bpf_get_current_task_btf());
	tick->n = follow ? ticks_of_sample(follow, tick->fell_in_kernel) : 1;
	if (!tick->n)
		return TICK_IGNORED;
	tick->site = site;
	range_hit(range, tick->n);
	if (with_callers)
		tick->owner = range_owner(range);
	else if (!count_in_line(line, range->root, site, tick->n))
		count_at(range, site, tick->n);
	return range->target;
}

/* User space's decision about the current task's cgroup. */
static __noinline enum space_state cgroup_state(void)
{
	struct space space;
	u32 *state;

	cgroup_space(current_cgroup_id(), &space);
	state = bpf_map_lookup_elem(&spaces, &space);
	return state ? *state : SPACE_UNKNOWN;
}

/*
 * Returns whether the tick's cgroup is filtered, and notes if user space has not decided. The cache
 * has no range of such a cgroup; therefore only ticks that miss call this.
 */
static __always_inline bool classify_cgroup(struct tick *tick)
{
	enum space_state state;

	if (!filter_cgroups)
		return false;
	state = cgroup_state();
	tick->unclassified = state < SPACE_WANTED;
	return state == SPACE_FILTERED;
}

/* Returns the tick's target if it has a place or is outside of all text, else a tick_result. */
static __always_inline u32 on_tick(u64 pc, bool user, bool by_thread, struct tick *tick)
{
	struct task_struct *task = bpf_get_current_task_btf();
	bool filtered = !user && mode == MODE_USER_ONLY;
	u32 target = TICK_MISSED;
	struct follow *follow;

	/*
	 * While ticks are off, not all threads are ready for them yet, or the programs are being
	 * detached.
	 */
	if (without_text(task) || cpu_time.ticks_off)
		return TICK_UNPLACED;
	follow = bpf_task_storage_get(&follows, task, NULL, 0);
	read_tick(task, task->mm, pc, user, by_thread, tick);
	if (!filtered)
		target = count_hit(tick, follow);
	if (target != TICK_MISSED)
		return target;
	return slow_tick(tick, follow_at_tick(task, follow, tick),
			 classify_cgroup(tick) || filtered);
}

#endif
