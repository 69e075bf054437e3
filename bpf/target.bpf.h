/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TARGET_BPF_H
#define BPFPROFIL_TARGET_BPF_H

/*
 * Whose a tick is when nobody follows the process: that of the innermost target cgroup, or the
 * system's.
 */
#include "cgroup.bpf.h"
#include "maps.bpf.h"

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

/* The target is found by ancestry, so that cgroups made after the session began count too. */
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

static __noinline u32 place_target(struct task_struct *task)
{
	if (!cgroup_wanted || task->flags & TASK_KTHREAD)
		return system_target;
	return cgroup_target(task_cgroup(task));
}

#endif
