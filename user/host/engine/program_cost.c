// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/engine/program_cost.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>

int program_statistics(struct error *err)
{
	int fd = bpf_enable_stats(BPF_STATS_RUN_TIME);

	if (fd >= 0)
		return fd;
	error_errno(err, fd, "the kernel's BPF statistics");
	if (fd == -EPERM)
		error_hint(err, "sudo; they need CAP_SYS_ADMIN");
	return fd;
}

int program_add_cost(int fd, struct program_cost *sum, struct error *err)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);
	int ret;

	if (fd < 0)
		return 0;
	ret = bpf_obj_get_info_by_fd(fd, &info, &size);
	if (ret)
		return error_errno(err, ret, "the statistics of a BPF program");
	sum->runs += info.run_cnt;
	sum->ns += info.run_time_ns;
	return 0;
}

int empty_program_load(enum bpf_prog_type type, const char *name, struct bpf_prog_load_opts *opts)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_prog_load(type, name, "Dual BSD/GPL", insns, 2, opts);
}
