/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CGROUP_BPF_H
#define BPFPROFIL_CGROUP_BPF_H

/* The cgroup that a task is in, in the one hierarchy that a session uses. */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "config.bpf.h"
#include "maps.bpf.h"

/*
 * BPF programs run inside an RCU read section, and therefore no lock is needed. The cgroups of a
 * css_set never change: a task that moves gets another set, and RCU frees the old one.
 */
static __always_inline struct cgroup *task_cgroup(struct task_struct *task)
{
	void *set = BPF_CORE_READ(task, cgroups);
	struct cgroup_subsys_state *css = NULL;

	if (cgroup_controller < 0)
		return BPF_CORE_READ((struct css_set *)set, dfl_cgrp);
	bpf_probe_read_kernel(&css, sizeof(css),
			      set + bpf_core_field_offset(struct css_set, subsys) +
				      cgroup_controller * sizeof(css));
	return BPF_CORE_READ(css, cgroup);
}

static __always_inline u64 cgroup_id(struct cgroup *cgroup)
{
	return BPF_CORE_READ(cgroup, kn, id);
}

/*
 * The current task's cgroup. It uses the helper where there is one, because each tick may need it.
 */
static __always_inline u64 current_cgroup_id(void)
{
	if (cgroup_controller < 0)
		return bpf_get_current_cgroup_id();
	return cgroup_id(task_cgroup(bpf_get_current_task_btf()));
}

enum { CGROUP_LEVELS = 64, TASK_KTHREAD = 0x00200000 /* PF_KTHREAD */ };

struct cgroup_climb {
	struct cgroup *cgroup;
	u32 target;
};

static long climb_step(u32 i, void *data)
{
	struct cgroup_climb *climb = data;
	struct cgroup *cgroup = climb->cgroup;
	u64 id = cgroup_id(cgroup);
	u32 *target = bpf_map_lookup_elem(&cgroup_targets, &id);
	struct cgroup_subsys_state *parent;

	if (target) {
		climb->target = *target;
		return 1;
	}
	parent = BPF_CORE_READ(cgroup, self.parent);
	if (!parent)
		return 1;
	climb->cgroup = BPF_CORE_READ(parent, cgroup);
	return 0;
}

/*
 * The target is found by ancestry. Therefore cgroups that are made after the session began count
 * too.
 */
static __always_inline u32 cgroup_target(struct cgroup *cgroup)
{
	struct cgroup_climb climb = { .cgroup = cgroup, .target = system_target };
	u64 id = cgroup_id(cgroup);
	u32 *known = bpf_map_lookup_elem(&cgroup_known, &id);

	if (known)
		return *known;
	bpf_loop(CGROUP_LEVELS, climb_step, &climb, 0);
	bpf_map_update_elem(&cgroup_known, &id, &climb.target, BPF_ANY);
	return climb.target;
}

/*
 * The target of a process that is not followed itself: that of the innermost target cgroup, or the
 * system's.
 */
static __noinline u32 place_target(struct task_struct *task)
{
	if (!cgroup_wanted || task->flags & TASK_KTHREAD)
		return system_target;
	return cgroup_target(task_cgroup(task));
}

#endif
