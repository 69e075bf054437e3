// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/engine/exit_hook.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/util.h"
#include "host/engine/kernel_btf.h"

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
