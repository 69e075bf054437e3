// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "cost/empty_program.h"

#include <linux/bpf.h>

int empty_program_load(enum bpf_prog_type type, const char *name,
		       const struct bpf_prog_load_opts *opts)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_prog_load(type, name, "Dual BSD/GPL", insns, 2, opts);
}
