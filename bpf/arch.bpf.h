/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_ARCH_BPF_H
#define BPFPROFIL_ARCH_BPF_H

/* Everything in the BPF programs that depends on the processor. */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#if defined(__TARGET_ARCH_x86)

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
typedef struct {
	u64 ctx_id;
	atomic64_t tlb_gen;
	void *vdso;
	const void *vdso_image;
} mm_context_t;

struct mm_struct___x86 {
	mm_context_t context;
};

struct pt_regs___kernel {
	unsigned long ip;
	unsigned long cs;
};
#pragma clang attribute pop

/*
 * The verifier requires each read of a context at a fixed offset; volatile keeps clang from merging
 * two reads.
 */
static __always_inline bool arch_user_mode(volatile struct bpf_perf_event_data *ctx)
{
	return ctx->regs.cs & 3;
}

static __always_inline u64 arch_pc(volatile struct bpf_perf_event_data *ctx)
{
	return ctx->regs.ip;
}

/* The same for the registers that an interrupt saved. */
static __always_inline bool arch_saved_user_mode(const struct pt_regs___kernel *regs)
{
	u16 cs = 0;

	/* 6.9 made cs a union for FRED; this is its first member. */
	bpf_core_read(&cs, sizeof(cs), &regs->cs);
	return cs & 3;
}

static __always_inline u64 arch_saved_pc(const struct pt_regs___kernel *regs)
{
	u64 pc = 0;

	bpf_core_read(&pc, sizeof(pc), &regs->ip);
	return pc;
}

/* The user pc that a task will return to. */
static __always_inline u64 arch_return_pc(struct task_struct *task)
{
	struct pt_regs___kernel *regs = (void *)bpf_task_pt_regs(task);

	return regs->ip;
}

/* The kernel counts this up for each new address space and never reuses a value. */
static __always_inline u64 arch_mm_id(struct mm_struct *mm)
{
	return ((struct mm_struct___x86 *)mm)->context.ctx_id;
}

/*
 * The kernel counts this up whenever it removes or changes pages that a CPU may have run or read.
 */
static __always_inline u32 arch_mm_flushes(struct mm_struct *mm)
{
	return ((struct mm_struct___x86 *)mm)->context.tlb_gen.counter;
}

static __always_inline u64 arch_vdso_start(struct mm_struct *mm)
{
	return (u64)BPF_CORE_READ((struct mm_struct___x86 *)mm, context.vdso);
}

/* 64-bit, 32-bit and x32 processes each have their own image. */
static __always_inline u64 arch_vdso_image(struct mm_struct *mm)
{
	return (u64)BPF_CORE_READ((struct mm_struct___x86 *)mm, context.vdso_image);
}

#else
#error "arch.bpf.h: add this processor"
#endif

#endif
