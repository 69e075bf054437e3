// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/engine/kernel_btf.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "host/engine/kernel_types.h"
#include "host/engine/program_cost.h"

/* All names below: types, members, variables and enumerators. */
static const char text[] =
	"btf_trace_sched_process_fork\0btf_trace_sched_process_exit\0exit_mm_release\0"
	".data..percpu\0tick_cpu_sched\0hrtimer_bases\0__irq_regs\0tick_sched\0sched_timer\0"
	"maple_range_64\0maple_arange_64\0bpf_iter_task_vma\0cgroup_subsys_id\0"
	"cpuset_cgrp_id\0cpu_cgrp_id\0cpuacct_cgrp_id\0io_cgrp_id\0memory_cgrp_id\0devices_cgrp_id\0"
	"freezer_cgrp_id\0net_cls_cgrp_id\0perf_event_cgrp_id\0net_prio_cgrp_id\0hugetlb_cgrp_id\0"
	"pids_cgrp_id\0rdma_cgrp_id\0misc_cgrp_id\0dmem_cgrp_id\0debug_cgrp_id";

const struct kernel_btf_names kernel_btf_names = { text, sizeof(text) };

static struct kernel_btf known;
static bool is_known;

static const struct btf_type *find_type(const struct btf *btf, const char *name, uint32_t kind)
{
	int id = btf__find_by_name_kind(btf, name, kind);

	return id < 0 ? NULL : btf__type_by_id(btf, (uint32_t)id);
}

static int count_arguments(const struct btf *btf, const char *tracepoint)
{
	const struct btf_type *type = find_type(btf, tracepoint, BTF_KIND_TYPEDEF);

	type = type ? btf__type_by_id(btf, type->type) : NULL; /* a pointer to ... */
	if (!type || !btf_is_ptr(type))
		return 0;
	type = btf__type_by_id(btf, type->type); /* ... the prototype */
	return type && btf_is_func_proto(type) ? btf_vlen(type) : 0;
}

static int64_t percpu_offset(const struct btf *btf, const char *name)
{
	const struct btf_type *section = find_type(btf, ".data..percpu", BTF_KIND_DATASEC);
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_VAR), i;
	const struct btf_var_secinfo *var;

	if (!section || id < 0)
		return -1;
	var = btf_var_secinfos(section);
	for (i = 0; i < btf_vlen(section); i++)
		if (var[i].type == (uint32_t)id)
			return var[i].offset;
	return -1;
}

static int64_t member_offset(const struct btf *btf, const char *structure, const char *name)
{
	const struct btf_type *type = find_type(btf, structure, BTF_KIND_STRUCT);
	int i;

	for (i = 0; type && i < btf_vlen(type); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_members(type)[i].name_off), name))
			return btf_member_bit_offset(type, (uint32_t)i) / 8;
	return -1;
}

static void read_controllers(const struct btf *btf, struct kernel_btf *result)
{
	const struct btf_type *type = find_type(btf, "cgroup_subsys_id", BTF_KIND_ENUM);
	const size_t most = sizeof(result->controllers) / sizeof(*result->controllers);
	size_t i;

	for (i = 0; type && i < btf_vlen(type) && i < most; i++) {
		const struct btf_enum *value = &btf_enum(type)[i];
		struct kernel_controller *to = &result->controllers[i];

		snprintf(to->name, sizeof(to->name), "%s",
			 btf__name_by_offset(btf, value->name_off));
		to->index = value->val;
		result->nr_controllers++;
	}
}

void kernel_btf_know(const struct kernel_types *types)
{
	const struct btf *btf = types->btf;

	if (is_known)
		return;
	known = (struct kernel_btf){
		.fork_tracepoint = kernel_types_number(types, "btf_trace_sched_process_fork",
						       BTF_KIND_TYPEDEF),
		.exit_arguments = count_arguments(btf, "btf_trace_sched_process_exit"),
		.exit_mm_release = kernel_types_number(types, "exit_mm_release", BTF_KIND_FUNC),
		.can_walk = find_type(btf, "maple_range_64", BTF_KIND_STRUCT) &&
			    find_type(btf, "maple_arange_64", BTF_KIND_STRUCT) &&
			    find_type(btf, "bpf_iter_task_vma", BTF_KIND_FUNC),
		.tick_cpu_sched = percpu_offset(btf, "tick_cpu_sched"),
		.hrtimer_bases = percpu_offset(btf, "hrtimer_bases"),
		.irq_regs = percpu_offset(btf, "__irq_regs"),
		.sched_timer = member_offset(btf, "tick_sched", "sched_timer"),
	};
	read_controllers(btf, &known);
	is_known = true;
}

int kernel_btf_read(const struct kernel_btf **result, struct error *err)
{
	struct kernel_types types;
	int ret = 0;

	*result = &known;
	if (is_known)
		return 0;
	ret = kernel_types_read(KERNEL_TYPES, text, sizeof(text), &types, err);
	if (!ret)
		kernel_btf_know(&types);
	kernel_types_free(&types);
	return ret;
}

/* Tries to attach, because ftrace may not reach a function that is in BTF. */
static bool can_trace(int function)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_FENTRY,
		    .attach_btf_id = (__u32)function);
	cleanup_fd int prog_fd = -1;
	cleanup_fd int link_fd = -1;

	prog_fd = empty_program_load(BPF_PROG_TYPE_TRACING, NULL, &opts);
	if (prog_fd >= 0)
		link_fd = bpf_raw_tracepoint_open(NULL, prog_fd);
	return link_fd >= 0;
}

int kernel_can_walk(struct error *err)
{
	const struct kernel_btf *btf;
	int ret = kernel_btf_read(&btf, err);

	return ret ? ret : btf->can_walk;
}

int exit_hook_find(struct error *err)
{
	const struct kernel_btf *btf;
	int ret = kernel_btf_read(&btf, err);

	if (ret)
		return ret;
	if (btf->exit_arguments != 2) /* context, task, group_dead */
		return EXIT_HOOK_TRACEPOINT;
	return btf->exit_mm_release > 0 && can_trace(btf->exit_mm_release) ? EXIT_HOOK_FUNCTION :
									     EXIT_HOOK_LATE;
}
