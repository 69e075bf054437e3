// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What the kernel's BPF can do, found by loading programs of a few instructions. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>

#include "base/util.h"
#include "host/engine/program_cost.h"
#include "host/engine/exit_hook.h"
#include "host/engine/kernel_btf.h"
#include "host/feature/feature_probes.h"

/*
 * The tick handler needs what these commits brought: 91c960b00566 ("bpf: Rename BPF_XADD and
 * prepare to encode other atomics in .imm", 5.12), dd6e10fbd9fb ("bpf: Add bpf_task_pt_regs()
 * helper", 5.15), 7c7e3d31e785 ("bpf: Introduce helper bpf_find_vma", 5.17). Users are told of 6.1,
 * because it is the oldest kernel that is tested.
 */
#define NEWER_KERNEL "a newer kernel; 6.1 has it"

/*
 * libbpf recognises a missing helper by the verifier's message. Without the right to load programs
 * there is no message and libbpf would answer yes, so then it is not asked.
 */
static bool may_load(struct feature_answer *answer)
{
	cleanup_fd int fd = -1;

	fd = empty_program_load(BPF_PROG_TYPE_PERF_EVENT, NULL, NULL);
	if (fd >= 0)
		return true;
	feature_answer_set(answer, FEATURE_UNKNOWN, NULL, "needs the right to load programs");
	return false;
}

/* The trial itself failed, so there is no answer about the kernel. */
static void not_tried(struct feature_answer *answer, int err)
{
	feature_answer_set(answer, FEATURE_UNKNOWN, NULL, "cannot be tried: %s", strerror(-err));
}

void probe_bpf(struct feature_answer *answer)
{
	cleanup_fd int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, NULL, 4, 8, 1, NULL);

	if (fd >= 0)
		feature_answer_set(answer, FEATURE_OK, NULL, "maps can be created");
	else if (fd == -ENOSYS)
		feature_answer_set(answer, FEATURE_MISSING, "a kernel with CONFIG_BPF_SYSCALL=y",
				   "the kernel has no bpf() system call");
	else if (fd == -EPERM)
		feature_answer_set(answer, FEATURE_MISSING,
				   "sudo; in a container its --privileged or seccomp profile",
				   "the bpf() system call is refused");
	else
		feature_answer_set(answer, FEATURE_MISSING, NULL, "bpf(): %s", strerror(-fd));
}

void probe_perf_program(struct feature_answer *answer)
{
	cleanup_fd int fd = -1;

	fd = empty_program_load(BPF_PROG_TYPE_PERF_EVENT, NULL, NULL);
	if (fd >= 0)
		feature_answer_set(answer, FEATURE_OK, NULL, "a program loads");
	else if (fd == -EPERM || fd == -EACCES)
		feature_answer_set(answer, FEATURE_MISSING, "sudo",
				   "a perf event program is refused: CAP_BPF and CAP_PERFMON or "
				   "CAP_SYS_ADMIN are needed");
	else
		feature_answer_set(answer, FEATURE_MISSING, "a kernel with CONFIG_BPF_EVENTS=y",
				   "a perf event program does not load: %s", strerror(-fd));
}

void probe_tp_btf(struct feature_answer *answer)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_RAW_TP);
	const struct kernel_btf *btf;
	cleanup_fd int fd = -1;
	int id;

	if (!may_load(answer))
		return;
	id = kernel_btf_read(&btf, NULL) ?: btf->fork_tracepoint;
	if (id > 0) {
		opts.attach_btf_id = (__u32)id;
		fd = empty_program_load(BPF_PROG_TYPE_TRACING, NULL, &opts);
	}
	if (fd >= 0)
		feature_answer_set(answer, FEATURE_OK, NULL, "a program on fork loads");
	else if (id == -ENOMEM)
		not_tried(answer, id);
	else
		feature_answer_set(answer, FEATURE_MISSING,
				   "a kernel with CONFIG_DEBUG_INFO_BTF=y and CONFIG_BPF_EVENTS=y",
				   "a program on fork does not load: %s",
				   strerror(id > 0 ? -fd : -id));
}

/* Tries a cmpxchg on the stack. */
void probe_atomics(struct feature_answer *answer)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_1, .imm = 1 },
		{ .code = BPF_ST | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_10, .off = -8 },
		{ .code = BPF_STX | BPF_ATOMIC | BPF_DW,
		  .dst_reg = BPF_REG_10,
		  .src_reg = BPF_REG_1,
		  .off = -8,
		  .imm = BPF_CMPXCHG },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	cleanup_fd int fd = -1;

	if (!may_load(answer))
		return;
	fd = bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, NULL, "Dual BSD/GPL", insns,
			   sizeof(insns) / sizeof(insns[0]), NULL);
	if (fd >= 0)
		feature_answer_set(answer, FEATURE_OK, NULL, "compare-and-exchange loads");
	else
		feature_answer_set(answer, FEATURE_MISSING, NEWER_KERNEL,
				   "the kernel's BPF has no compare-and-exchange");
}

static void probe_helper(struct feature_answer *answer, enum bpf_func_id id, const char *name)
{
	int there;

	if (!may_load(answer))
		return;
	there = libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, id, NULL);
	if (there < 0)
		not_tried(answer, there);
	else if (there)
		feature_answer_set(answer, FEATURE_OK, NULL, "the helper is there");
	else
		feature_answer_set(answer, FEATURE_MISSING, NEWER_KERNEL,
				   "the kernel has no %s for perf event programs", name);
}

/* Tries to make a map of the type that goes with the helper. */
static void probe_map(struct feature_answer *answer, enum bpf_map_type type, const char *name)
{
	int there;

	if (answer->state != FEATURE_OK)
		return;
	there = libbpf_probe_bpf_map_type(type, NULL);
	if (there < 0)
		not_tried(answer, there);
	else if (!there)
		feature_answer_set(answer, FEATURE_MISSING, NEWER_KERNEL,
				   "the kernel has no %s maps", name);
}

void probe_find_vma(struct feature_answer *answer)
{
	probe_helper(answer, BPF_FUNC_find_vma, "bpf_find_vma");
}

void probe_task_pt_regs(struct feature_answer *answer)
{
	probe_helper(answer, BPF_FUNC_task_pt_regs, "bpf_task_pt_regs");
}

void probe_task_storage(struct feature_answer *answer)
{
	probe_helper(answer, BPF_FUNC_task_storage_get, "bpf_task_storage_get");
	probe_map(answer, BPF_MAP_TYPE_TASK_STORAGE, "task storage");
}

void probe_ringbuf(struct feature_answer *answer)
{
	probe_helper(answer, BPF_FUNC_ringbuf_reserve, "bpf_ringbuf_reserve");
	probe_map(answer, BPF_MAP_TYPE_RINGBUF, "ring buffer");
}

void probe_read_kernel(struct feature_answer *answer)
{
	probe_helper(answer, BPF_FUNC_probe_read_kernel, "bpf_probe_read_kernel");
	if (answer->state != FEATURE_MISSING)
		return;
	/*
	 * The helper is older than all others here, so it is missing only when lockdown forbids it.
	 */
	feature_answer_set(answer, FEATURE_MISSING,
			   "booting without lockdown=confidentiality (cat "
			   "/sys/kernel/security/lockdown)",
			   "the kernel refuses bpf_probe_read_kernel");
}

void probe_exit(struct feature_answer *answer)
{
	int hook;

	if (!may_load(answer))
		return;
	hook = exit_hook_find(NULL);
	if (hook < 0)
		not_tried(answer, hook);
	else if (hook == EXIT_HOOK_LATE)
		feature_answer_set(answer, FEATURE_LIMITED,
				   "CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS=y, or 6.16",
				   "none: ticks of giving memory back at exit are lost");
	else
		feature_answer_set(answer, FEATURE_OK, NULL, "%s",
				   hook == EXIT_HOOK_FUNCTION ? "fentry on exit_mm_release" :
								"sched_process_exit");
}
