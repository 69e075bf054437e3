/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SPLIT_BPF_H
#define BPFPROFIL_SPLIT_BPF_H

/*
 * The process, thread or cgroup by which --split separates ticks, and a cgroup's name for user
 * space.
 */
#include "space.bpf.h"

/* The most accounts of splits. Set before load. */
const volatile __u32 max_splits = 0;

enum { NSEC_PER_USEC = 1000 };

static __always_inline u64 process_id(struct task_struct *task)
{
	return BPF_CORE_READ(task, group_leader, start_time) / NSEC_PER_USEC << SPLIT_PID_BITS |
	       task->tgid;
}

static __always_inline u64 thread_id(struct task_struct *task)
{
	return task->start_time / NSEC_PER_USEC << SPLIT_PID_BITS | task->pid;
}

/* The split id of any task that is not freed. */
static __always_inline u64 task_split(struct task_struct *task)
{
	if (split == SPLIT_PROCESS)
		return process_id(task);
	if (split == SPLIT_THREAD)
		return thread_id(task);
	return split == SPLIT_CGROUP ? cgroup_id(task_cgroup(task)) : 0;
}

/* The split id of the current task. A tick always counts for the task in which it fell. */
static __always_inline u64 split_id(void)
{
	if (split == SPLIT_PROCESS)
		return process_id(bpf_get_current_task_btf());
	if (split == SPLIT_THREAD)
		return thread_id(bpf_get_current_task_btf());
	return split == SPLIT_CGROUP ? current_cgroup_id() : 0;
}

static __always_inline void cgroup_space(u64 id, struct space *space)
{
	__builtin_memset(space, 0, sizeof(*space));
	space->kind = SPACE_CGROUP;
	space->a = id;
}

/* The walk from a cgroup up to the root of its hierarchy, one name at a time. */
struct cgroup_walk {
	struct kernfs_node *node;
	struct record *record;
};

static long cgroup_step(u32 i, void *data)
{
	struct cgroup_walk *walk = data;
	struct kernfs_node *node = walk->node;
	struct kernfs_node *parent = kernfs_parent(node);

	if (!parent || !add_name(walk->record, BPF_CORE_READ(node, name)))
		return 1;
	walk->node = parent;
	return 0;
}

/* False: another CPU has moved the task meanwhile, and its cgroup is not the one of the id. */
static __always_inline bool read_cgroup(struct task_struct *task, u64 id, struct record *record)
{
	struct kernfs_node *node = BPF_CORE_READ(task_cgroup(task), kn);
	struct cgroup_walk walk = { .node = node, .record = record };

	if (BPF_CORE_READ(node, id) != id)
		return false;
	bpf_loop(PATH_PARTS, cgroup_step, &walk, 0);
	return true;
}

/*
 * Announces a task's cgroup once, so that the cgroup has a name after it is gone. The name of a
 * process or thread is in its struct spent_cpu. Some users can make any number of cgroups, which
 * must leave room for files and for those of others.
 */
static __noinline int announce_cgroup(struct task_struct *task, u64 id)
{
	struct record *record;
	struct owner *owner;
	struct space space;
	u32 number;

	cgroup_space(id, &space);
	if (is_announced(&space))
		return 0;
	number = owner_number(owner_key(user_of_task(task), task));
	owner = bpf_map_lookup_elem(&owners, &number);
	if (!owner || !split_admitted(max_splits, table_state.cgroups, owner->cgroups))
		return 0;
	record = new_record(&space, task);
	if (!record)
		return 0;
	if (!read_cgroup(task, id, record)) {
		bpf_map_delete_elem(&spaces, &space);
		bpf_ringbuf_discard(record, 0);
		return 0;
	}
	record->owner_number = number;
	__sync_fetch_and_add(&owner->cgroups, 1);
	__sync_fetch_and_add(&table_state.cgroups, 1);
	bpf_ringbuf_submit(record, 0);
	return 0;
}

#endif
