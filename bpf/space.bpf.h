/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SPACE_BPF_H
#define BPFPROFIL_SPACE_BPF_H

/*
 * The text at a pc: the mapping, its file or other space, and the record that announces it to user
 * space.
 */
#include "arch.bpf.h"
#include "config.bpf.h"
#include "compat.bpf.h"
#include "mapletree.bpf.h"
#include "maps.bpf.h"
#include "owner.bpf.h"

enum { ENOENT = 2, EBUSY = 16 };
/* ANNOUNCED: user space knows its text. */
enum { MAPPING_EXEC = 4 /* VM_EXEC */, MAPPING_ANNOUNCED = 1 << 16 };

/* The mapping around a pc. `offset` is the place of `start` in the space. */
struct mapping {
	u64 start;
	u64 end;
	u64 offset;
	u64 vma;
	struct space space;
	u64 exec;
};

/*
 * Appends a name to a record's path. False: there is none, or no room. The length is in the record
 * and not on the stack: before 6.7 the verifier checks a callback of bpf_loop once, may believe
 * that values on the stack never change, and delete tests of them.
 */
static __always_inline bool add_name(struct record *record, const void *name)
{
	u32 len = record->path_len;
	long got;

	if (len >= PATH_BYTES)
		return false;
	got = bpf_probe_read_kernel_str(&record->path[len & (PATH_BYTES - 1)], NAME_BYTES, name);
	if (got <= 0)
		return false;
	record->path_len = len + got;
	return true;
}

/* The walk from a file up to the root, one name at a time. */
struct path_walk {
	struct dentry *dentry;
	struct mount *mount;
	struct record *record;
};

static long path_step(u32 i, void *data)
{
	struct path_walk *walk = data;
	struct dentry *dentry = walk->dentry;
	struct dentry *parent = BPF_CORE_READ(dentry, d_parent);
	struct mount *mount = walk->mount, *above;

	if (dentry == BPF_CORE_READ(mount, mnt.mnt_root)) {
		above = BPF_CORE_READ(mount, mnt_parent);
		if (above == mount)
			return 1;
		walk->dentry = BPF_CORE_READ(mount, mnt_mountpoint);
		walk->mount = above;
		return 0;
	}
	if (!add_name(walk->record, BPF_CORE_READ(dentry, d_name.name)))
		return 1;
	walk->dentry = parent;
	return dentry == parent; /* a memfd has a name but no folder */
}

/* Reads the names of a file's path, as seen in the file's own mount tree. */
static __always_inline void read_path(struct file *file, struct record *record)
{
	void *vfsmount = BPF_CORE_READ(file, f_path.mnt);
	struct path_walk walk = {
		.dentry = BPF_CORE_READ(file, f_path.dentry),
		.mount = vfsmount - bpf_core_field_offset(struct mount, mnt),
		.record = record,
	};

	bpf_loop(PATH_PARTS, path_step, &walk, 0);
}

/* Notes that the space is announced now. False: it was announced before. */
static __always_inline bool mark_announced(const struct space *space)
{
	u32 state = SPACE_ANNOUNCED, *before = bpf_map_lookup_elem(&spaces, space);

	if (before)
		return __sync_val_compare_and_swap(before, SPACE_UNOPENED, SPACE_ANNOUNCED) ==
		       SPACE_UNOPENED;
	return !bpf_map_update_elem(&spaces, space, &state, BPF_NOEXIST);
}

/*
 * Whether a space was announced. If user space could not open a file, the next tick in the file
 * announces it again, perhaps in another process.
 */
static __always_inline bool is_announced(const struct space *space)
{
	u32 *state = bpf_map_lookup_elem(&spaces, space);

	return state && *state != SPACE_UNOPENED;
}

/*
 * Reserves the record that announces a space, which is sent once. NULL: the ring buffer is full, or
 * another CPU sends it; a later tick tries again.
 */
static __always_inline struct record *new_record(const struct space *space,
						 struct task_struct *task)
{
	struct record *record = bpf_ringbuf_reserve(&records, sizeof(*record), 0);
	if (!record)
		return NULL;
	if (!mark_announced(space)) {
		bpf_ringbuf_discard(record, 0);
		return NULL;
	}
	record->type = RECORD_SPACE;
	record->tgid = task->tgid;
	record->space = *space;
	record->start = 0;
	record->end = 0;
	record->size = 0;
	record->path_len = 0;
	record->owner = 0;
	record->mount = 0;
	record->flags = 0;
	record->parent = BPF_CORE_READ(task, real_parent, tgid);
	BPF_CORE_READ_INTO(&record->comm, task, group_leader, comm);
	return record;
}

/* See texts.bpf.h. */
static __always_inline bool number_text(const struct space *space, struct task_struct *task);

/*
 * Announces the text of a mapping. False: user space does not know it yet, because the ring buffer
 * is full or the text's owner has as many texts as allowed.
 */
static __always_inline bool announce(const struct mapping *mapping, struct task_struct *task,
				     struct file *file)
{
	/* On the stack, because 6.1 accepts no pointer argument as a map key. */
	struct space space = mapping->space;
	struct record *record;

	if (is_announced(&space))
		return true;
	if (!number_text(&space, task))
		return false;
	record = new_record(&space, task);
	if (!record)
		return false;
	record->start = mapping->start;
	record->end = mapping->end;
	if (file) {
		record->size = BPF_CORE_READ(file, f_inode, i_size);
		read_path(file, record);
	}
	note_place(record, file, task);
	note_owner(record, file, task);
	bpf_ringbuf_submit(record, 0);
	return true;
}

static __always_inline void file_space(struct file *file, struct space *space)
{
	struct inode *inode = BPF_CORE_READ(file, f_inode);

	space->kind = SPACE_FILE;
	space->a = (u64)inode;
	space->b = BPF_CORE_READ(inode, i_ino);
	space->generation = BPF_CORE_READ(inode, i_generation);
	space->dev = BPF_CORE_READ(inode, i_sb, s_dev);
}

static __always_inline void anon_space(struct task_struct *task, u64 start, struct space *space)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);

	if (start && start == arch_vdso_start(mm)) {
		space->kind = SPACE_VDSO;
		space->a = !(start >> 32);
		return;
	}
	space->kind = SPACE_ANON;
	space->a = BPF_CORE_READ(task, group_leader, start_time);
	space->b = BPF_CORE_READ(task, tgid);
}

/* A user chooses offsets in a file, and a larger one would change the text of a site. */
static __always_inline bool fits_in_sites(u64 offset, u64 bytes)
{
	return !((offset | (offset + bytes - 1)) >> SITE_OFFSET_BITS);
}

/* Reads a mapping and returns its file. If it is no text, reads only where it is. */
static __always_inline struct file *
read_mapping(struct task_struct *task, struct vm_area_struct *vma, struct mapping *mapping)
{
	struct file *file = BPF_CORE_READ(vma, vm_file);

	mapping->vma = (u64)vma;
	mapping->start = BPF_CORE_READ(vma, vm_start);
	mapping->end = BPF_CORE_READ(vma, vm_end);
	mapping->exec = BPF_CORE_READ(vma, vm_flags) & MAPPING_EXEC;
	if (!mapping->exec)
		return NULL;
	if (file) {
		mapping->offset = BPF_CORE_READ(vma, vm_pgoff) << page_shift;
		file_space(file, &mapping->space);
	} else {
		anon_space(task, mapping->start, &mapping->space);
		mapping->offset = mapping->space.kind == SPACE_VDSO ? 0 : mapping->start;
	}
	if (!fits_in_sites(mapping->offset, mapping->end - mapping->start))
		mapping->exec = 0;
	return file;
}

static __always_inline void announce_mapping(struct task_struct *task, struct vm_area_struct *vma,
					     struct mapping *mapping)
{
	struct file *file = read_mapping(task, vma, mapping);

	if (mapping->exec && (mapping->space.kind == SPACE_VDSO || announce(mapping, task, file)))
		mapping->exec |= MAPPING_ANNOUNCED;
}

/*
 * Only returns which mapping it is, because reading it needs stack, and this is the deepest
 * function of all. In an interrupt the mmap lock is held until the interrupt returns. Elsewhere the
 * mapping may be gone by then, and is read like one from maple_find_vma().
 */
static long seen_mapping(struct task_struct *task, struct vm_area_struct *vma, void *data)
{
	*(u64 *)data = (u64)vma;
	return 0;
}

/*
 * Finds the mapping of the current task around a pc. The result must be zero before: 6.1 requires
 * it of a global function's argument. Returns 0, -ENOENT if there is no mapping, or -EBUSY if it
 * cannot be read now.
 */
__noinline int find_mapping(struct mapping *mapping, u64 pc)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	u64 vma = 0;
	long ret;

	if (!mapping)
		return -ENOENT;
	if (!mm)
		return -ENOENT;
	vma = (u64)maple_find_vma(mm, pc);
	if (!vma) {
		ret = bpf_find_vma(task, pc, seen_mapping, &vma, 0);
		if (ret)
			return ret;
	}
	announce_mapping(task, (struct vm_area_struct *)vma, mapping);
	return 0;
}

#endif
