// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <dwarf.h>
#include <elf.h>
#include <string.h>

#include "unwind/cfi.h"

/* The ABI's numbers (AADWARF64). */
enum { REGISTER_FP = 29, REGISTER_LR = 30, REGISTER_SP = 31 };

/* Rules ignore pointer authentication: addresses of code are cut to their address bits. */

static enum unwind_cfa cfa_of(const struct cfi_frame *frame, struct unwind_rule *rule)
{
	rule->cfa_offset = (int32_t)frame->cfa_offset;
	/* Only code with registers whose size the processor chooses (SVE) has expressions. */
	if (frame->cfa_expression.at || rule->cfa_offset != frame->cfa_offset)
		return UNWIND_REGISTER;
	if (frame->cfa_register == REGISTER_SP)
		return UNWIND_SP;
	return frame->cfa_register == REGISTER_FP ? UNWIND_FP : UNWIND_REGISTER;
}

/* Sets where both are stored, by the one offset of unwind_ra_offset(). False: they need two. */
static bool set_places(const struct cfi_frame *frame, struct unwind_rule *rule)
{
	const struct cfi_place *fp = &frame->fp, *ra = &frame->ra;
	const bool is_stored = ra->how == CFI_AT_CFA;
	const int64_t below_ra = ra->offset - (int64_t)sizeof(uint64_t);

	rule->fp = UNWIND_FP_LOST;
	if (fp->how == CFI_UNSPECIFIED || fp->how == CFI_SAME)
		rule->fp = UNWIND_FP_SAME;
	else if (fp->how == CFI_AT_CFA && fp->offset == (int32_t)fp->offset)
		rule->fp = UNWIND_FP_CFA;
	if (rule->fp == UNWIND_FP_CFA)
		rule->fp_offset = (int32_t)fp->offset;
	else if (is_stored)
		rule->fp_offset = (int32_t)below_ra;
	rule->ra = is_stored ? UNWIND_RA_STORED : UNWIND_RA_SCRATCH;
	return !is_stored || rule->fp_offset == below_ra;
}

/* A caller has stored x30. If it has not, it belongs to the runtime, and does not return. */
static enum unwind_call call_of_go(const struct unwind_rule *rule)
{
	return rule->ra == UNWIND_RA_STORED ? UNWIND_CALL_POINTER : UNWIND_CALL_FRAMELESS;
}

static void make_rule(const struct cfi_frame *frame, enum cfi_kind kind, struct unwind_rule *result)
{
	const enum cfi_how ra = frame->ra.how;
	const bool in_lr = ra == CFI_UNSPECIFIED || ra == CFI_SAME ||
			   (ra == CFI_REGISTER && frame->ra.offset == REGISTER_LR);
	struct unwind_rule rule = { .cfa = UNWIND_REGISTER };

	if (kind == CFI_SIGNAL)
		rule.cfa = UNWIND_SIGNAL;
	else if (kind == CFI_FIRST || ra == CFI_UNDEFINED)
		rule.cfa = UNWIND_END;
	else if (in_lr || ra == CFI_AT_CFA)
		rule.cfa = (uint8_t)cfa_of(frame, &rule);
	/* Clear the rest if it is not followed, because it would only make more rules. */
	if (rule.cfa == UNWIND_REGISTER || (rule.cfa < UNWIND_SIGNAL && !set_places(frame, &rule)))
		rule = (struct unwind_rule){ .cfa = UNWIND_REGISTER };
	if (kind == CFI_GO)
		rule.call = (uint16_t)call_of_go(&rule);
	*result = rule;
}

static uint32_t code_at(const unsigned char *bytes)
{
	uint32_t code;

	memcpy(&code, bytes, sizeof(code));
	return code;
}

enum {
	NOP = 0xd503201f,
	BTI_C = 0xd503245f,
	BRK = 0xd4200000, /* and 16 bits from bit 5 on */
	BRK_MASK = 0xffe0001f,
	UDF = 0, /* and 16 bits */
	UDF_MASK = 0xffff0000,
	MOV_X19 = 0xaa1303e0, /* mov x0, x19 */
	CBNZ_X0 = 0xb5000000,
	CBNZ_X0_MASK = 0xff00001f,
	MOV_X8_SIGRETURN = 0xd2801168, /* mov x8, #139 */
	SVC = 0xd4000001,
	GO_NOP = 0xaa0003e0, /* mov x0, x0 */
	BL = 0x94000000,
	BL_MASK = 0xfc000000,
	CODE = sizeof(uint32_t),
};

static bool begins_with(const unsigned char *bytes, size_t size, uint32_t first, uint32_t second,
			uint32_t mask)
{
	return size >= 2 * CODE && code_at(bytes) == first &&
	       (code_at(bytes + CODE) & mask) == second;
}

/*
 * Signal handlers return to code that begins with the system call sigreturn, mostly after a nop.
 *
 * Go's goexit(), to which a goroutine's first function returns, has no caller. Neither has glibc's
 * __startcontext(), to which a coroutine of makecontext() returns. Its description begins at a nop
 * before it, and with -mbranch-protection it begins with bti. Since 2.41 its description says that
 * it has no caller.
 */
static enum cfi_kind kind_of_code(const unsigned char *bytes, size_t size, bool is_go)
{
	size_t at = 0;

	if (is_go)
		return begins_with(bytes, size, GO_NOP, BL, BL_MASK) ? CFI_FIRST : CFI_GO;
	if (size >= at + CODE && code_at(bytes + at) == NOP)
		at += CODE;
	if (size >= at + CODE && code_at(bytes + at) == BTI_C)
		at += CODE;
	bytes += at;
	size -= at;
	if (begins_with(bytes, size, MOV_X8_SIGRETURN, SVC, UINT32_MAX))
		return CFI_SIGNAL;
	return begins_with(bytes, size, MOV_X19, CBNZ_X0, CBNZ_X0_MASK) ? CFI_FIRST : CFI_PLAIN;
}

static enum cfi_gap gap_of(const unsigned char *bytes, size_t size)
{
	size_t at;
	uint32_t code;

	for (at = 0; at + CODE <= size; at += CODE) {
		code = code_at(bytes + at);
		if (code != NOP && (code & BRK_MASK) != BRK && (code & UDF_MASK) != UDF)
			return CFI_GAP_CODE;
	}
	return CFI_GAP_PADDING;
}

/* It neither calls nor moves the stack pointer. Compilers do the latter to store x30. */
static bool is_leaf(const unsigned char *bytes, size_t size)
{
	static const struct {
		uint32_t mask, code;
	} moves[] = {
		{ BL_MASK, BL },
		{ 0xfefff000, 0xd63f0000 }, /* blr, blraa */
		{ 0x3a8003e0, 0x288003e0 }, /* stp, ldp: at sp, which changes */
		{ 0x3b2007e0, 0x380007e0 }, /* str, ldr: likewise */
		{ 0xbf80001f, 0x9100001f }, /* add, sub: to sp */
		{ 0xbfe0001f, 0x8b20001f }, /* the same with a register */
	};
	size_t at, i;

	for (at = 0; at + CODE <= size; at += CODE)
		for (i = 0; i < sizeof(moves) / sizeof(*moves); i++)
			if ((code_at(bytes + at) & moves[i].mask) == moves[i].code)
				return false;
	return true;
}

const struct cfi_machine cfi_aarch64 = {
	.elf = EM_AARCH64,
	.fp = REGISTER_FP,
	.rule = make_rule,
	.kind_of_code = kind_of_code,
	.gap = gap_of,
	.is_leaf = is_leaf,
};
