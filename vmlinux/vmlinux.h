/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_VMLINUX_H
#define BPFPROFIL_VMLINUX_H

/*
 * The kernel types that bpf/ uses, with only the members it reads, instead of the 135,000 lines
 * that bpftool prints. So one can read in a minute what the programs depend on in the kernel, a
 * build needs no BTF of its own host, and CO-RE adjusts every offset to the running kernel at load.
 * Members that differ between kernels have their flavours in bpf/compat.bpf.h. regen.sh prints the
 * full header when this one must grow; SOURCE says what it was checked against.
 */
typedef unsigned char __u8;
typedef signed char __s8;
typedef unsigned short __u16;
typedef short __s16;
typedef unsigned int __u32;
typedef int __s32;
typedef unsigned long long __u64;
typedef long long __s64;

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __s32 s32;
typedef __u64 u64;
typedef __s64 s64;

/* bpf_helper_defs.h names these types of network byte order and checksum in prototypes. */
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

typedef _Bool bool;
enum { false = 0, true = 1 };

#define NULL ((void *)0)

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PROG_ARRAY = 3,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_QUEUE = 22,
	BPF_MAP_TYPE_STACK = 23,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_F_NO_PREALLOC = 1,
	BPF_F_MMAPABLE = 1024,
	BPF_F_INNER_MAP = 4096,
	BPF_LOCAL_STORAGE_GET_F_CREATE = 1,
};

/* The user ABI of a perf_event program's context. It is fixed, so it is never relocated. */
#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax;
	unsigned long ip, cs, flags, sp, ss;
};
typedef struct pt_regs bpf_user_pt_regs_t;
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs;
typedef struct user_pt_regs {
	__u64 regs[31];
	__u64 sp, pc, pstate;
} bpf_user_pt_regs_t;
#else
#error "vmlinux.h: add this processor's registers"
#endif

struct bpf_perf_event_data {
	bpf_user_pt_regs_t regs;
	__u64 sample_period;
	__u64 addr;
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct qstr {
	u32 len;
	const unsigned char *name;
};

typedef struct {
	u32 val;
} kuid_t;

struct super_block {
	u32 s_dev;
	unsigned long s_magic;
	struct user_namespace *s_user_ns;
};

struct inode {
	kuid_t i_uid;
	struct super_block *i_sb;
	unsigned long i_ino;
	s64 i_size;
	u32 i_generation;
};

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
	struct super_block *d_sb;
};

struct vfsmount {
	struct dentry *mnt_root;
	struct super_block *mnt_sb;
};

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
	int mnt_id;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct file {
	struct inode *f_inode;
	struct path f_path;
};

struct vm_userfaultfd_ctx {
	void *ctx;
};

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_end;
	struct mm_struct *vm_mm;
	unsigned long vm_flags;
	unsigned long vm_pgoff;
	struct file *vm_file;
	struct vm_userfaultfd_ctx vm_userfaultfd_ctx;
};

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	s64 counter;
} atomic64_t;

struct maple_tree {
	void *ma_root;
};

struct maple_range_64 {
	unsigned long pivot[15];
	void *slot[16];
};

struct maple_arange_64 {
	unsigned long pivot[9];
	void *slot[10];
};

struct mm_struct {
	unsigned long start_code;
	unsigned long start_stack;
	struct maple_tree mm_mt;
};

struct core_state;

struct signal_struct {
	atomic_t live;
	struct core_state *core_state;
};

struct kernfs_node {
	const char *name;
	u64 id;
};

struct cgroup;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
};

struct css_set {
	struct cgroup_subsys_state *subsys[1]; /* as many as the kernel has controllers */
	struct cgroup *dfl_cgrp;
};

struct ns_common {
	unsigned int inum;
};

struct pid_namespace {
	struct ns_common ns;
};

struct user_namespace {
	struct user_namespace *parent;
	int level;
	kuid_t owner;
	struct ns_common ns;
};

struct mnt_namespace {
	struct user_namespace *user_ns;
};

struct nsproxy {
	struct mnt_namespace *mnt_ns;
};

struct cred {
	kuid_t uid;
	struct user_namespace *user_ns;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct sched_entity {
	u64 sum_exec_runtime;
	u64 prev_sum_exec_runtime;
};

struct thread_info {
	u32 status;
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	unsigned int flags;
	unsigned int on_rq; /* as on_cpu */
	unsigned int on_cpu; /* a byte since 7.x; CO-RE adjusts only an unsigned member to that */
	struct sched_entity se;
	struct mm_struct *mm;
	s32 pid;
	s32 tgid;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct signal_struct *signal;
	u64 start_time;
	u64 self_exec_id;
	unsigned int in_execve : 1;
	unsigned int in_iowait : 1;
	unsigned int frozen : 1;
	const struct cred *cred;
	struct nsproxy *nsproxy; /* NULL: it is exiting */
	struct css_set *cgroups;
	char comm[16];
};

struct hrtimer_cpu_base {
	unsigned int cpu;
};

struct hrtimer_clock_base {
	struct hrtimer_cpu_base *cpu_base;
};

struct timerqueue_node {
	s64 expires;
};

struct hrtimer {
	struct timerqueue_node node;
	int (*function)(struct hrtimer *timer);
	struct hrtimer_clock_base *base;
};

struct bpf_iter__task {
	struct task_struct *task; /* NULL after the last */
};

struct bpf_iter__task_vma {
	struct task_struct *task;
	struct vm_area_struct *vma; /* NULL after the last */
};

struct linux_binprm;
struct bpf_redir_neigh;

#pragma clang attribute pop

#endif
