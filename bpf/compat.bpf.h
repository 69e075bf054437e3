/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_COMPAT_BPF_H
#define BPFPROFIL_COMPAT_BPF_H

#include "arch.bpf.h"

/*
 * Members whose shape differs between kernels.
 *
 * mm_lock_seq changes whenever a writer leaves the mmap lock. Therefore it stamps the state of all
 * mappings. Commit 5e31275cc997 ("mm: add per-VMA lock and helper functions to control it", 6.4)
 * added it as an int; commit eb449bd96954 ("mm: convert mm_lock_seq to a proper seqcount", 6.14)
 * made it a seqcount that is odd while a writer is inside.
 */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct mm_struct___int {
	int mm_lock_seq;
};

typedef struct seqcount___compat {
	unsigned int sequence;
} seqcount_t___compat;

struct mm_struct___seqcount {
	struct seqcount___compat mm_lock_seq;
};

struct vm_area_struct___detached {
	bool detached;
};

struct vm_area_struct___lock_seq {
	int vm_lock_seq;
};

struct refcount___compat {
	atomic_t refs;
};

struct vm_area_struct___refcnt {
	struct refcount___compat vm_refcnt;
};

struct backing_file___user_path {
	struct path user_path;
};

struct sched_entity___delayed {
	unsigned char sched_delayed;
};

struct kernfs_node___plain {
	struct kernfs_node *parent;
};

struct kernfs_node___rcu {
	struct kernfs_node *__parent;
};
#pragma clang attribute pop

/*
 * True from the end of the old address space until the new program's first pc is known. Meanwhile a
 * pc may belong to either program.
 */
static __always_inline bool amid_exec(struct task_struct *task)
{
	return BPF_CORE_READ_BITFIELD(task, in_execve);
}

/*
 * Whether a task that leaves its CPU has left the run queue too. Since "sched/fair: Implement
 * delayed dequeue", 6.12, a sleeping task can stay in the queue for a while with a mark.
 */
static __always_inline bool has_left_queue(struct task_struct *task)
{
	struct sched_entity___delayed *entity = (void *)&task->se;

	if (!task->on_rq)
		return true;
	/* "sched/fair: Implement delayed dequeue", 6.12 */
	return bpf_core_field_exists(entity->sched_delayed) && entity->sched_delayed;
}

static __always_inline u32 mm_stamp(struct mm_struct *mm)
{
	struct mm_struct___seqcount *seqcount = (void *)mm;
	struct mm_struct___int *plain = (void *)mm;

	/*
	 * eb449bd96954: the low bit is masked, because a running thread's text was mapped before
	 * the writer came.
	 */
	if (bpf_core_field_exists(seqcount->mm_lock_seq.sequence))
		return seqcount->mm_lock_seq.sequence & ~1U;
	/* 5e31275cc997 */
	if (bpf_core_field_exists(plain->mm_lock_seq))
		return plain->mm_lock_seq;
	/*
	 * Text that had a tick was in a page that a CPU ran, and such a page is never replaced
	 * without a flush.
	 */
	return arch_mm_flushes(mm);
}

/*
 * Whether the stamp changes with every mapping. If it does not, a part of a mapping in which
 * nothing has run yet can be replaced unnoticed.
 */
static __always_inline bool stamps_ranges(void)
{
	struct mm_struct___seqcount *seqcount = NULL;
	struct mm_struct___int *plain = NULL;

	/* eb449bd96954, and before it 5e31275cc997 */
	return bpf_core_field_exists(seqcount->mm_lock_seq.sequence) ||
	       bpf_core_field_exists(plain->mm_lock_seq);
}

/*
 * Whether a mapping, which may be freed, is marked as removed from its address space. Before
 * 5e31275cc997 mappings have no mark, and we assume that it was removed.
 */
static __always_inline bool vma_detached(struct vm_area_struct *vma)
{
	struct vm_area_struct___detached *flag = (void *)vma;
	struct vm_area_struct___refcnt *count = (void *)vma;

	/* "mm: replace vm_lock and detached flag with a reference count", 6.15. */
	if (bpf_core_field_exists(count->vm_refcnt.refs.counter))
		return !BPF_CORE_READ(count, vm_refcnt.refs.counter);
	if (bpf_core_field_exists(flag->detached))
		return BPF_CORE_READ(flag, detached);
	return true;
}

/*
 * mm_lock_seq at the last change of the mapping. Every change begins by writing it, and so does the
 * removal, commit 5e31275cc997 ("mm: add per-VMA lock and helper functions to control it", 6.4). 0:
 * the kernel does not have it, the mapping may be changing now, or it was never changed, like those
 * of a child.
 */
static __always_inline u32 vma_changed(struct vm_area_struct *vma, struct mm_struct *mm)
{
	struct vm_area_struct___lock_seq *lock = (void *)vma;
	struct mm_struct___seqcount *seqcount = (void *)mm;
	struct mm_struct___int *plain = (void *)mm;
	u32 changed, now;

	/* 5e31275cc997 */
	if (!stamps_ranges() || !bpf_core_field_exists(lock->vm_lock_seq))
		return 0;
	changed = BPF_CORE_READ(lock, vm_lock_seq);
	/* eb449bd96954 */
	if (bpf_core_field_exists(seqcount->mm_lock_seq.sequence))
		now = BPF_CORE_READ(seqcount, mm_lock_seq.sequence);
	else
		now = BPF_CORE_READ(plain, mm_lock_seq);
	return changed == now || changed == 0xffffffff ? 0 : changed;
}

/*
 * The path by which a file was opened. If one file system is stacked on another, the file of a
 * mapping is the lower one. Since commit def3ae83da02 ("fs: store real path instead of fake path in
 * backing file f_path", 6.7) its f_path is that of the lower file, and the opened path follows the
 * struct. The flag of such files differs between kernels. Therefore this tests whether the mount
 * and the name there belong to one file system.
 */
static __always_inline const struct path *opened_path(struct file *file)
{
	struct backing_file___user_path *backing = (void *)file;
	const struct path *path = __builtin_preserve_access_index(&file->f_path), *user;
	struct super_block *sb;

	/* def3ae83da02 */
	if (!bpf_core_field_exists(backing->user_path))
		return path;
	user = __builtin_preserve_access_index(&backing->user_path);
	sb = BPF_CORE_READ(user, mnt, mnt_sb);
	return sb && sb == BPF_CORE_READ(user, dentry, d_sb) ? user : path;
}

static __always_inline struct kernfs_node *kernfs_parent(struct kernfs_node *node)
{
	struct kernfs_node___rcu *rcu = (void *)node;
	struct kernfs_node___plain *plain = (void *)node;

	/* "kernfs: Use RCU to access kernfs_node::parent.", 6.15, renamed it. */
	if (bpf_core_field_exists(rcu->__parent))
		return BPF_CORE_READ(rcu, __parent);
	return BPF_CORE_READ(plain, parent);
}

#endif
