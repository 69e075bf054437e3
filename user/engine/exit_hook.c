// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "engine/exit_hook.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/util.h"

/*
 * The number of the tracepoint's arguments, including its context; 0: there is no such tracepoint.
 */
static int tracepoint_arguments(const struct btf *btf)
{
	const struct btf_type *type;
	int id = btf__find_by_name_kind(btf, "btf_trace_sched_process_exit", BTF_KIND_TYPEDEF);

	if (id < 0)
		return id == -ENOENT ? 0 : id;
	type = btf__type_by_id(btf, (__u32)id);
	type = btf__type_by_id(btf, type->type); /* a pointer to ... */
	if (!type || !btf_is_ptr(type))
		return 0;
	type = btf__type_by_id(btf, type->type); /* ... the prototype */
	return type && btf_is_func_proto(type) ? btf_vlen(type) : 0;
}

/* Tries to attach, because ftrace may not reach a function that is in BTF. */
static bool can_trace(int function)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_FENTRY,
		    .attach_btf_id = (__u32)function);
	cleanup_fd int prog_fd = -1;
	cleanup_fd int link_fd = -1;

	prog_fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, NULL, "Dual BSD/GPL", insns, 2, &opts);
	if (prog_fd >= 0)
		link_fd = bpf_raw_tracepoint_open(NULL, prog_fd);
	return link_fd >= 0;
}

int exit_hook_find(void)
{
	struct btf *btf = btf__parse("/sys/kernel/btf/vmlinux", NULL);
	int arguments, function = -1;

	if (!btf)
		return -errno;
	arguments = tracepoint_arguments(btf);
	if (arguments == 2)
		function = btf__find_by_name_kind(btf, "exit_mm_release", BTF_KIND_FUNC);
	btf__free(btf);
	if (arguments < 0)
		return arguments;
	if (arguments != 2) /* context, task, group_dead */
		return EXIT_HOOK_TRACEPOINT;
	return function > 0 && can_trace(function) ? EXIT_HOOK_FUNCTION : EXIT_HOOK_LATE;
}
