/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_ARCH_BPF_H
#define BPFPROFIL_ARCH_BPF_H

/* Everything in the BPF programs that depends on the processor. */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "shared/callers_abi.h"

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
	unsigned long sp;
	unsigned long bp;
	unsigned long di;
};
#pragma clang attribute pop

enum {
	X86_USER32_CS = 0x23,
	/* Where the kernel puts struct sigcontext on the stack, and members in it, in words. */
	X86_SIGNAL_CONTEXT = 40,
	X86_CONTEXT_BP = 10,
	X86_CONTEXT_SP = 15,
	X86_CONTEXT_IP = 16,
};

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

static __always_inline void arch_frame(volatile struct bpf_perf_event_data *ctx,
				       struct frame *frame)
{
	frame->pc = ctx->regs.ip;
	frame->sp = ctx->regs.sp;
	frame->fp = ctx->regs.bp;
	frame->scratch = ctx->regs.di;
	frame->narrow = ctx->regs.cs == X86_USER32_CS;
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

static __always_inline void arch_saved_frame(const struct pt_regs___kernel *regs,
					     struct frame *frame)
{
	u16 cs = 0;

	bpf_core_read(&cs, sizeof(cs), &regs->cs);
	frame->narrow = cs == X86_USER32_CS;
	bpf_core_read(&frame->pc, sizeof(frame->pc), &regs->ip);
	bpf_core_read(&frame->sp, sizeof(frame->sp), &regs->sp);
	bpf_core_read(&frame->fp, sizeof(frame->fp), &regs->bp);
	bpf_core_read(&frame->scratch, sizeof(frame->scratch), &regs->di);
}

/* The frame that a task will return to. */
static __always_inline void arch_return_frame(struct task_struct *task, struct frame *frame)
{
	arch_saved_frame((void *)bpf_task_pt_regs(task), frame);
}

/* The frame that a signal interrupted, if sp is where its handler returns to; false: unreadable. */
static __always_inline bool arch_signal_frame(u64 sp, struct frame *frame)
{
	u64 context = sp + X86_SIGNAL_CONTEXT;

	return !bpf_probe_read_user(&frame->fp, sizeof(u64),
				    (void *)(context + X86_CONTEXT_BP * sizeof(u64))) &&
	       !bpf_probe_read_user(&frame->sp, sizeof(u64),
				    (void *)(context + X86_CONTEXT_SP * sizeof(u64))) &&
	       !bpf_probe_read_user(&frame->pc, sizeof(u64),
				    (void *)(context + X86_CONTEXT_IP * sizeof(u64)));
}

/*
 * Where the return address is, as the code at pc shows it: bytes from SP to the CFA, and how far above SP the
 * caller's frame pointer was pushed, + 1. All 0: the code does not show it.
 */
struct shown_frame {
	u32 cfa;
	u32 fp;
};

enum {
	X86_RET = 0xc3,
	X86_ADD_SP = 0xc48348, /* add $N,%rsp */
	X86_SUB_SP = 0xec8348,
	X86_CALL_CX = 0xd1ff,
	X86_POP = 0x58, /* and the register's number */
	X86_POP_HIGH = 0x5841, /* of r8 to r15 */
	X86_SP = 4,
	X86_BP = 5,
	X86_SUB_SP_BYTES = 4,
	X86_CALL_CX_BYTES = 2,
	X86_POPS_MAX = 4,
};

/* Of code that takes something off the stack, if anything, and returns within 8 bytes. */
static __always_inline struct shown_frame arch_shown_by_end(u64 code)
{
	const struct shown_frame none = {};
	struct shown_frame shown = {};
	u32 i;

	if ((code & 0xffffff) == X86_ADD_SP) {
		shown.cfa = code >> 24 & 0x7f;
		if (code >> 31 & 1)
			return none;
		code >>= 32;
	}
	for (i = 0; i < X86_POPS_MAX; i++) {
		if ((code & 0xf8ff) == X86_POP_HIGH) {
			code >>= 8;
		} else if ((code & 0xff) == X86_POP + X86_BP) {
			shown.fp = shown.cfa + 1;
		} else if ((code & 0xf8) != X86_POP || (code & 0xff) == X86_POP + X86_SP) {
			break;
		}
		code >>= 8;
		shown.cfa += sizeof(u64);
	}
	if ((code & 0xff) != X86_RET)
		return none;
	shown.cfa += sizeof(u64);
	return shown;
}

/*
 * Where a call is the last thing that code does, as in CPython's trampolines for perf, "sub $8,%rsp; call
 * *%rcx; add $8,%rsp; ret", and in the main() that rustc makes. What is called leaves SP as it was.
 */
static __always_inline struct shown_frame arch_shown_frame(u64 pc, bool in_call)
{
	struct shown_frame shown = {};
	bool at_start;
	u64 code;

	if (bpf_probe_read_user(&code, sizeof(code), (void *)pc))
		return shown;
	at_start = !in_call && (code & 0xffffff) == X86_SUB_SP &&
		   (code >> 32 & 0xffff) == X86_CALL_CX;
	if (at_start && bpf_probe_read_user(&code, sizeof(code),
					    (void *)(pc + X86_SUB_SP_BYTES + X86_CALL_CX_BYTES)))
		return shown;
	if (!in_call && (code & 0xffff) == X86_CALL_CX)
		code >>= 8 * X86_CALL_CX_BYTES;
	shown = arch_shown_by_end(code);
	if (at_start && shown.cfa)
		shown.cfa = sizeof(u64);
	return shown;
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
 * The same of a task; 0: it has no address space. For each pointer that is loaded from a task, and on
 * each path to it, the verifier searches the kernel's BTF for what says that it may be trusted, which
 * takes a millisecond. So only the way of a tick through the cache loads it.
 */
static __always_inline u64 arch_task_mm_id(struct task_struct *task)
{
	struct mm_struct___x86 *mm = (void *)BPF_CORE_READ(task, mm);

	return mm ? BPF_CORE_READ(mm, context.ctx_id) : 0;
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
