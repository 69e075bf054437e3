/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CGROUP_BPF_H
#define BPFPROFIL_CGROUP_BPF_H

/* The cgroup that a task is in, in the one hierarchy that a session uses. */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "config.bpf.h"

/*
 * No lock is needed: the cgroups of a css_set never change, a task that moves gets another set, and
 * the set that it left is freed by RCU, and we run inside an RCU read section.
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
 * The current task's cgroup. It uses the helper where there is one, because this may run at every
 * tick.
 */
static __always_inline u64 current_cgroup_id(void)
{
	if (cgroup_controller < 0)
		return bpf_get_current_cgroup_id();
	return cgroup_id(task_cgroup(bpf_get_current_task_btf()));
}

#endif
