/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_ARCH_BPF_H
#define BPFPROFIL_ARCH_BPF_H

/* Everything in the BPF programs that depends on the processor. */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "shared/callers_abi.h"

/* The frame of code that is about to return. Offsets are in bytes above SP. */
enum epilogue_kind { EPILOGUE_NONE, EPILOGUE_RETURN, EPILOGUE_SIGNAL /* as UNWIND_SIGNAL */ };

enum { FP_STORED = 1, RA_STORED = 2 };

struct epilogue {
	u8 kind;
	u8 stored; /* what is on the stack; the rest is still in its register */
	u16 cfa;
	u16 fp; /* where the caller's frame pointer is stored */
	u16 ra; /* likewise the return address */
};

/* What the kernel saved of a user's registers, or of what an interrupt interrupted. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct pt_regs___kernel {
#if defined(__TARGET_ARCH_x86)
	unsigned long ip;
	unsigned long cs;
	unsigned long sp;
	unsigned long bp;
	unsigned long di;
	unsigned long orig_ax;
#elif defined(__TARGET_ARCH_arm64)
	u64 regs[31];
	u64 sp;
	u64 pc;
	u64 pstate;
	s32 syscallno;
#endif
};
#pragma clang attribute pop

#if defined(__TARGET_ARCH_x86)

/*
 * A frame pointer points to two words, the caller's frame pointer and the return address. The
 * caller's stack pointer is above them.
 */
enum { ABOVE_POINTER = 16, SP_UNSURE = 0 };

static __always_inline u64 arch_above_pointer_of_go(const struct unwind_rule *rule)
{
	return ABOVE_POINTER;
}

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
typedef struct {
	u64 ctx_id;
	atomic64_t tlb_gen;
	void *vdso;
} mm_context_t;

struct mm_struct___x86 {
	mm_context_t context;
};

#pragma clang attribute pop

enum {
	X86_USER32_CS = 0x23,
	/* Where the kernel puts struct sigcontext on the stack. */
	X86_SIGNAL_CONTEXT = 40,
};

/* Where a signal's handler returns to: how far above the stack pointer each register is stored. */
enum {
	SIGNAL_SCRATCH = X86_SIGNAL_CONTEXT + 8 * 8,
	SIGNAL_FP = X86_SIGNAL_CONTEXT + 10 * 8,
	SIGNAL_SP = X86_SIGNAL_CONTEXT + 15 * 8,
	SIGNAL_PC = X86_SIGNAL_CONTEXT + 16 * 8,
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
	frame->is_32bit = ctx->regs.cs == X86_USER32_CS;
}

/* The following functions do the same for the registers that an interrupt saved. */
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
	frame->is_32bit = cs == X86_USER32_CS;
	bpf_core_read(&frame->pc, sizeof(frame->pc), &regs->ip);
	bpf_core_read(&frame->sp, sizeof(frame->sp), &regs->sp);
	bpf_core_read(&frame->fp, sizeof(frame->fp), &regs->bp);
	bpf_core_read(&frame->scratch, sizeof(frame->scratch), &regs->di);
}

/* The frame that a task will return to. */
static __always_inline void arch_return_frame(struct task_struct *task, struct frame *frame)
{
	struct pt_regs___kernel *regs = (void *)bpf_task_pt_regs(task);
	u16 cs = 0;

	bpf_core_read(&cs, sizeof(cs), &regs->cs);
	frame->is_32bit = cs == X86_USER32_CS;
	frame->pc = regs->ip;
	frame->sp = regs->sp;
	frame->fp = regs->bp;
	frame->scratch = regs->di;
}

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

/* For code that pops something off the stack, if anything, and returns within 8 bytes. */
static __always_inline struct epilogue arch_epilogue_of(u64 code)
{
	const struct epilogue none = {};
	struct epilogue found = {};
	u32 i;

	if ((code & 0xffffff) == X86_ADD_SP) {
		found.cfa = code >> 24 & 0x7f;
		if (code >> 31 & 1)
			return none;
		code >>= 32;
	}
	for (i = 0; i < X86_POPS_MAX; i++) {
		if ((code & 0xf8ff) == X86_POP_HIGH) {
			code >>= 8;
		} else if ((code & 0xff) == X86_POP + X86_BP) {
			found.fp = found.cfa;
			found.stored |= FP_STORED;
		} else if ((code & 0xf8) != X86_POP || (code & 0xff) == X86_POP + X86_SP) {
			break;
		}
		code >>= 8;
		found.cfa += sizeof(u64);
	}
	if ((code & 0xff) != X86_RET)
		return none;
	found.ra = found.cfa;
	found.stored |= RA_STORED;
	found.cfa += sizeof(u64);
	found.kind = EPILOGUE_RETURN;
	return found;
}

/*
 * Also handles code whose last action is a call, as in CPython's trampolines for perf, "sub
 * $8,%rsp; call *%rcx; add $8,%rsp; ret", and in the main() that rustc makes. The called function
 * leaves SP as it was.
 */
static __always_inline struct epilogue arch_epilogue(u64 pc, bool in_call)
{
	struct epilogue found = {};
	bool at_start;
	u64 code;

	if (bpf_probe_read_user(&code, sizeof(code), (void *)pc))
		return found;
	at_start = !in_call && (code & 0xffffff) == X86_SUB_SP &&
		   (code >> 32 & 0xffff) == X86_CALL_CX;
	if (at_start && bpf_probe_read_user(&code, sizeof(code),
					    (void *)(pc + X86_SUB_SP_BYTES + X86_CALL_CX_BYTES)))
		return found;
	if (!in_call && (code & 0xffff) == X86_CALL_CX)
		code >>= 8 * X86_CALL_CX_BYTES;
	found = arch_epilogue_of(code);
	if (at_start && found.kind) {
		found.cfa = sizeof(u64);
		found.ra = 0;
	}
	return found;
}

/* The user pc that a task will return to. */
static __always_inline u64 arch_return_pc(struct task_struct *task)
{
	struct pt_regs___kernel *regs = (void *)bpf_task_pt_regs(task);

	return regs->ip;
}

enum { X86_TS_COMPAT = 2, X86_X32_BIT = 1 << 30 };

/* The system call that a task is in; negative: none. */
static __always_inline s32 arch_syscall(struct task_struct *task)
{
	struct pt_regs___kernel *regs = (void *)bpf_task_pt_regs(task);
	s32 number = (s32)regs->orig_ax;

	return number < 0 ? number : number & ~X86_X32_BIT;
}

/* Whether the task makes the system calls of a 32-bit program. */
static __always_inline bool arch_is_compat(struct task_struct *task)
{
	return task->thread_info.status & X86_TS_COMPAT;
}

enum { NR_RESTART_SYSCALL = 219, NR_CLONE = 56, NR_VFORK = 58, NR_CLONE3 = 435 };

/* The kernel counts this up for each new address space and never reuses a value. */
static __always_inline u64 arch_mm_id(struct mm_struct *mm)
{
	return ((struct mm_struct___x86 *)mm)->context.ctx_id;
}

/*
 * Does the same for any task; 0: it has no address space. Only the path of a hit loads pointers
 * directly: each such load makes the verifier search the kernel's BTF for a millisecond.
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

#elif defined(__TARGET_ARCH_arm64)

/*
 * The two words that a frame pointer points to may be anywhere in the frame. After a step by frame
 * pointer, only a lower limit of the caller's stack pointer is known. An odd stack pointer marks
 * this.
 */
enum { SP_UNSURE = 1, ABOVE_POINTER = 16 | SP_UNSURE };

/* Go's code has these words right below the stack pointer. */
static __always_inline u64 arch_above_pointer_of_go(const struct unwind_rule *rule)
{
	return rule->cfa == UNWIND_SP ? sizeof(u64) + rule->cfa_offset : ABOVE_POINTER;
}

enum {
	PSR_MODE_MASK = 15, /* 0: user mode, of 64 bits or 32 */
	PSR_MODE32_BIT = 16,
	ARM64_FP = 29,
	ARM64_LR = 30,
	/* Where the kernel puts the registers on the stack for a signal's handler. */
	ARM64_SIGNAL_REGISTERS = 312,
};

enum {
	SIGNAL_FP = ARM64_SIGNAL_REGISTERS + ARM64_FP * 8,
	SIGNAL_SCRATCH = ARM64_SIGNAL_REGISTERS + ARM64_LR * 8,
	SIGNAL_SP = ARM64_SIGNAL_REGISTERS + 31 * 8,
	SIGNAL_PC = ARM64_SIGNAL_REGISTERS + 32 * 8,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
typedef struct {
	void *vdso;
} mm_context_t;

struct mm_struct___arm64 {
	mm_context_t context;
};

#pragma clang attribute pop

static __always_inline bool arch_user_mode(volatile struct bpf_perf_event_data *ctx)
{
	return !(ctx->regs.pstate & PSR_MODE_MASK);
}

static __always_inline u64 arch_pc(volatile struct bpf_perf_event_data *ctx)
{
	return ctx->regs.pc;
}

static __always_inline void arch_frame(volatile struct bpf_perf_event_data *ctx,
				       struct frame *frame)
{
	frame->pc = ctx->regs.pc;
	frame->sp = ctx->regs.sp;
	frame->fp = ctx->regs.regs[ARM64_FP];
	frame->scratch = ctx->regs.regs[ARM64_LR];
	frame->is_32bit = !!(ctx->regs.pstate & PSR_MODE32_BIT);
}

static __always_inline bool arch_saved_user_mode(const struct pt_regs___kernel *regs)
{
	u64 pstate = 0;

	bpf_core_read(&pstate, sizeof(pstate), &regs->pstate);
	return !(pstate & PSR_MODE_MASK);
}

static __always_inline u64 arch_saved_pc(const struct pt_regs___kernel *regs)
{
	u64 pc = 0;

	bpf_core_read(&pc, sizeof(pc), &regs->pc);
	return pc;
}

static __always_inline void arch_saved_frame(const struct pt_regs___kernel *regs,
					     struct frame *frame)
{
	u64 pstate = 0;

	bpf_core_read(&pstate, sizeof(pstate), &regs->pstate);
	frame->is_32bit = !!(pstate & PSR_MODE32_BIT);
	bpf_core_read(&frame->pc, sizeof(frame->pc), &regs->pc);
	bpf_core_read(&frame->sp, sizeof(frame->sp), &regs->sp);
	bpf_core_read(&frame->fp, sizeof(frame->fp), &regs->regs[ARM64_FP]);
	bpf_core_read(&frame->scratch, sizeof(frame->scratch), &regs->regs[ARM64_LR]);
}

static __always_inline void arch_return_frame(struct task_struct *task, struct frame *frame)
{
	arch_saved_frame((void *)bpf_task_pt_regs(task), frame);
}

enum {
	ARM64_RET = 0xd65f03c0,
	ARM64_RETAA = 0xd65f0bff,
	ARM64_RETAB = 0xd65f0fff,
	ARM64_AUTIASP = 0xd50323bf, /* and AUTIBSP, by the bit below */
	ARM64_AUTIBSP_BIT = 0x40,
	ARM64_POP_FRAME = 0xa8c07bfd, /* ldp x29, x30, [sp], #N; its bits for N / 8 are 0 */
	ARM64_POP_BITS = 0x3f, /* of these 7 bits the highest is the sign */
	ARM64_POP_SHIFT = 15,
	ARM64_BR_X17 = 0xd61f0220, /* ends an entry of the PLT */
	ARM64_SIGRETURN = 0xd2801168, /* mov x8, #139; svc #0 */
	ARM64_SVC = 0xd4000001,
	ARM64_CODE = 4, /* instructions of an entry of the PLT, after a bti */
};

static __always_inline bool arch_returns(u32 code)
{
	return code == ARM64_RET || code == ARM64_RETAA || code == ARM64_RETAB;
}

/*
 * For code that is about to return, for an entry of the PLT, and for the end of a signal's handler.
 */
static __always_inline struct epilogue arch_epilogue(u64 pc, bool in_call)
{
	struct epilogue found = {};
	u32 code[ARM64_CODE];
	u32 next;

	/* The next words may not be mapped. */
	if (bpf_probe_read_user(code, sizeof(code), (void *)pc)) {
		code[1] = code[2] = code[3] = 0;
		if (bpf_probe_read_user(code, sizeof(u64), (void *)pc) &&
		    bpf_probe_read_user(code, sizeof(u32), (void *)pc))
			return found;
	}
	if (code[0] == ARM64_SIGRETURN && code[1] == ARM64_SVC) {
		found.kind = EPILOGUE_SIGNAL;
		return found;
	}
	next = (code[1] & ~ARM64_AUTIBSP_BIT) == ARM64_AUTIASP ? code[2] : code[1];
	if ((code[0] & ~(ARM64_POP_BITS << ARM64_POP_SHIFT)) == ARM64_POP_FRAME &&
	    arch_returns(next)) {
		found.kind = EPILOGUE_RETURN;
		found.cfa = (code[0] >> ARM64_POP_SHIFT & ARM64_POP_BITS) * sizeof(u64);
		found.stored = FP_STORED | RA_STORED;
		found.fp = 0;
		found.ra = sizeof(u64);
	} else if (!in_call &&
		   (arch_returns(code[0]) || code[0] == ARM64_BR_X17 || code[1] == ARM64_BR_X17 ||
		    code[2] == ARM64_BR_X17 || code[3] == ARM64_BR_X17)) {
		found.kind = EPILOGUE_RETURN;
	}
	return found;
}

static __always_inline u64 arch_return_pc(struct task_struct *task)
{
	struct pt_regs___kernel *regs = (void *)bpf_task_pt_regs(task);

	return regs->pc;
}

static __always_inline s32 arch_syscall(struct task_struct *task)
{
	return ((struct pt_regs___kernel *)bpf_task_pt_regs(task))->syscallno;
}

/* A 32-bit program. */
static __always_inline bool arch_is_compat(struct task_struct *task)
{
	u64 pstate = 0;

	bpf_core_read(&pstate, sizeof(pstate),
		      &((struct pt_regs___kernel *)bpf_task_pt_regs(task))->pstate);
	return pstate & PSR_MODE32_BIT;
}

/* arm64 has no vfork(). As its number, -1 would match tasks that are in no system call. */
enum { NR_RESTART_SYSCALL = 128, NR_CLONE = 220, NR_VFORK = NR_CLONE, NR_CLONE3 = 435 };

/*
 * The kernel does not number address spaces: context.id is 0 before the first run, and changes with
 * new ASIDs. This is a hash of the process (its pid and the time of its start) and the count of its
 * execs. Of n address spaces, two have the same number with a probability of n^2 / 2^65. Processes
 * that share an address space have different numbers.
 */
static __always_inline u64 arch_task_mm_id(struct task_struct *task)
{
	u64 began, execs;

	if (!BPF_CORE_READ(task, mm))
		return 0;
	began = BPF_CORE_READ(task, group_leader, start_time);
	execs = (u64)(u32)task->tgid << 32 ^ BPF_CORE_READ(task, self_exec_id);
	return (began * 0x9e3779b97f4a7c15ULL ^ execs) * 0xbf58476d1ce4e5b9ULL | 1;
}

/* It is a function of its own to save the ticks' stack. */
__noinline u64 current_mm_id(void)
{
	return arch_task_mm_id(bpf_get_current_task_btf());
}

/* For the current task's. */
static __always_inline u64 arch_mm_id(struct mm_struct *mm)
{
	return current_mm_id();
}

/*
 * The kernel does not count these flushes here. Therefore before 6.4 each tick looks up its
 * mapping.
 */
static __always_inline u32 arch_mm_flushes(struct mm_struct *mm)
{
	return (u32)bpf_ktime_get_ns() & ~1U;
}

static __always_inline u64 arch_vdso_start(struct mm_struct *mm)
{
	return (u64)BPF_CORE_READ((struct mm_struct___arm64 *)mm, context.vdso);
}

#else
#error "arch.bpf.h: add this processor"
#endif

#endif
