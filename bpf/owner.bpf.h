/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_OWNER_BPF_H
#define BPFPROFIL_OWNER_BPF_H

/*
 * The owner of a process or a file, who is charged for its elements: see struct owner. Only a new
 * text, node or number of a text needs an owner. A tick with a known chain does not look it up.
 */
#include "cgroup.bpf.h"
#include "compat.bpf.h"
#include "maps.bpf.h"
#include "shared/callers_abi.h"

/* The ranges of subuid(5). Set before load. */
const volatile struct uid_range subordinates[SUBORDINATES_MAX] = {};
const volatile __u32 nr_subordinates = 0;

MAPPED_ARRAY(owners, struct owner, OWNERS_MAX);

/* By the owner's key. */
HASH(owner_numbers, u64, u32, OWNERS_MAX);

/* Numbers that were taken for an owner to which another CPU gave one first. No other is freed. */
FREE_NUMBERS(free_owners, OWNERS_MAX);

enum { NAMESPACE_LEVELS = 33, FUSE_MAGIC = 0x65735546 };

static __always_inline u32 first_subordinate(u32 uid)
{
	u32 i;

	if (uid < SUBORDINATE_MIN)
		return uid;
	for (i = 0; i < SUBORDINATES_MAX && i < nr_subordinates; i++)
		if (uid - subordinates[i].first < subordinates[i].nr)
			return subordinates[i].first;
	return uid;
}

/* The outermost namespace around this one, other than the first one, which has level 0. */
static __always_inline struct user_namespace *outermost(struct user_namespace *ns)
{
	u32 i;

	for (i = 0; i < NAMESPACE_LEVELS && BPF_CORE_READ(ns, level) > 1; i++)
		ns = BPF_CORE_READ(ns, parent);
	return ns;
}

/*
 * The key of a uid in a namespace; 0: root. If root made the namespace, the namespace itself is
 * charged.
 */
static __always_inline u64 user_key(struct user_namespace *ns, u32 uid)
{
	ns = outermost(ns);
	if (BPF_CORE_READ(ns, level)) {
		uid = BPF_CORE_READ(ns, owner.val);
		if (!uid)
			return OWNER_OF_NAMESPACE | BPF_CORE_READ(ns, ns.inum);
	}
	return uid ? first_subordinate(uid) : 0;
}

/*
 * It is global and has only numbers as arguments, so that its loops are verified once and not at
 * each call.
 */
__noinline u64 user_key_of(u64 ns, u32 uid)
{
	return user_key((void *)ns, uid);
}

/* Things of root are charged to the task's cgroup. */
static __always_inline u64 owner_key(u64 user, struct task_struct *task)
{
	return user ? user : OWNER_OF_CGROUP | cgroup_id(task_cgroup(task));
}

/* 0: all were given. */
static __always_inline u32 unused_owner(void)
{
	u32 number;

	if (!bpf_map_pop_elem(&free_owners, &number))
		return number;
	if (table_state.next_owner >= OWNERS_MAX)
		return 0;
	number = __sync_fetch_and_add(&table_state.next_owner, 1);
	return number < OWNERS_MAX ? number : 0;
}

/*
 * When all numbers were given, an owner shares one with those who had it, most of whom have ended
 * in a long session.
 */
static __always_inline u32 shared_number(u64 key)
{
	return OWNER_FIRST + (u32)(key * 0x9e3779b97f4a7c15ULL >> 32) % (OWNERS_MAX - OWNER_FIRST);
}

__noinline u32 owner_number(u64 key)
{
	u32 *known = bpf_map_lookup_elem(&owner_numbers, &key), number;

	if (known)
		return *known;
	number = unused_owner();
	if (!number)
		return shared_number(key);
	if (!bpf_map_update_elem(&owner_numbers, &key, &number, BPF_NOEXIST))
		return number;
	/* Another CPU was first, or there is no memory. */
	bpf_map_push_elem(&free_owners, &number, BPF_ANY);
	known = bpf_map_lookup_elem(&owner_numbers, &key);
	return known ? *known : shared_number(key);
}

/*
 * The user of a process is its real uid, so that set-user-ID programs are charged to the user who
 * runs them.
 */
static __always_inline u64 user_of_task(struct task_struct *task)
{
	return user_key_of((u64)BPF_CORE_READ(task, cred, user_ns),
			   BPF_CORE_READ(task, cred, uid.val));
}

static __always_inline u64 user_of_file(struct inode *inode)
{
	return user_key_of((u64)BPF_CORE_READ(inode, i_sb, s_user_ns),
			   BPF_CORE_READ(inode, i_uid.val));
}

/*
 * The owner of a file, or, without a file, of a process. The server of a FUSE file chooses its uid.
 * Therefore such a file is charged to the process that maps it, and so is a file of root: otherwise
 * a user could have one more owner, with one more share, in each control group of theirs.
 */
static __noinline u32 owner_of(struct inode *inode, struct task_struct *task)
{
	u64 user = 0;

	if (inode && BPF_CORE_READ(inode, i_sb, s_magic) != FUSE_MAGIC)
		user = user_of_file(inode);
	if (!user)
		user = user_of_task(task);
	return owner_number(owner_key(user, task));
}

static __always_inline bool may_hang(struct super_block *sb)
{
	return BPF_CORE_READ(sb, s_magic) == FUSE_MAGIC || BPF_CORE_READ(sb, s_user_ns, level);
}

/* The mount in which a file was opened. */
static __always_inline u32 mount_of(const struct path *path)
{
	void *mount = BPF_CORE_READ(path, mnt);

	mount -= bpf_core_field_offset(struct mount, mnt);
	return BPF_CORE_READ((struct mount *)mount, mnt_id);
}

/*
 * Whether opening the file, or walking below the root of its process, may have to wait for a user's
 * program.
 */
static __always_inline bool may_block(struct file *file, const struct path *path,
				      struct task_struct *task)
{
	return BPF_CORE_READ(task, nsproxy, mnt_ns, user_ns, level) ||
	       (file && (may_hang(BPF_CORE_READ(file, f_inode, i_sb)) ||
			 may_hang(BPF_CORE_READ(path, dentry, d_sb)) ||
			 may_hang(BPF_CORE_READ(file, f_path.dentry, d_sb))));
}

/* Notes where user space opens a file, or finds the root of a process. */
static __noinline int note_place(struct record *record, struct file *file, struct task_struct *task)
{
	const struct path *path = file ? opened_path(file) : NULL;

	if (may_block(file, path, task))
		record->flags |= RECORD_MAY_BLOCK;
	if (!file)
		return 0;
	record->mount = mount_of(path);
	if (BPF_CORE_READ(path, dentry, d_sb) != BPF_CORE_READ(file, f_inode, i_sb))
		record->flags |= RECORD_STACKED;
	return 0;
}

/*
 * Notes the owner of a text. If opening the text can be delayed, this is the user who can delay it.
 * For a namespace that root made it is the cgroup, because the namespace's root can make any number
 * of namespaces.
 */
static __always_inline void note_owner(struct record *record, struct file *file,
				       struct task_struct *task)
{
	u64 user = 0;

	if (file && !(record->flags & RECORD_MAY_BLOCK))
		user = user_of_file(BPF_CORE_READ(file, f_inode));
	if (!user)
		user = user_of_task(task);
	if (record->flags & RECORD_MAY_BLOCK && user & OWNER_OF_NAMESPACE)
		user = 0;
	record->owner = owner_key(user, task);
}

#endif
