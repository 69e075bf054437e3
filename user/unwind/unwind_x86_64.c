// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <dwarf.h>
#include <elf.h>
#include <string.h>

#include "unwind/cfi.h"

/* The System V ABI's numbers. The CIE names the column of the return address. */
enum { REGISTER_DI = 5, REGISTER_BP = 6, REGISTER_SP = 7 };

/* The call instruction has stored the return address right below the CFA. */
enum { RA_OFFSET = -8 };

/*
 * The instruction that ends at byte N of a PLT entry pushes a word. Linkers describe all entries at
 * once by SP + 8 + (((RIP & 15) >= N) << 3).
 */
static bool is_plt(struct cfi_cursor rest, int16_t *pushed_at)
{
	static const unsigned char wanted[] = { DW_OP_breg16, 0,	  DW_OP_lit15,
						DW_OP_and,    DW_OP_lit0, DW_OP_ge,
						DW_OP_lit3,   DW_OP_shl,  DW_OP_plus };
	unsigned char code[sizeof(wanted)];

	if ((size_t)(rest.end - rest.at) != sizeof(code))
		return false;
	memcpy(code, rest.at, sizeof(code));
	*pushed_at = (int16_t)(code[4] - DW_OP_lit0);
	code[4] = DW_OP_lit0;
	return *pushed_at >= 0 && *pushed_at < UNWIND_PLT_BYTES &&
	       !memcmp(code, wanted, sizeof(wanted));
}

/* Whether the CFA is the value stored there, maybe plus a number: frames that realign the stack. */
static bool is_stored(struct cfi_cursor rest, int16_t *more)
{
	uint64_t number = 0;

	if (cfi_number(&rest, 1) != DW_OP_deref)
		return false;
	if (rest.at < rest.end) {
		if (cfi_number(&rest, 1) != DW_OP_plus_uconst)
			return false;
		number = cfi_leb(&rest, false);
	}
	*more = (int16_t)number;
	return !rest.bad && rest.at == rest.end && number <= INT16_MAX;
}

/* The register and number at the start of an expression. */
static uint64_t read_base(struct cfi_cursor *expression, int64_t *offset)
{
	uint64_t number = cfi_number(expression, 1) - DW_OP_breg0;

	*offset = (int64_t)cfi_leb(expression, true);
	return expression->bad ? UINT64_MAX : number;
}

static enum unwind_cfa cfa_of(const struct cfi_frame *frame, struct unwind_rule *rule)
{
	struct cfi_cursor expression = frame->cfa_expression;
	uint64_t number = frame->cfa_register;
	int64_t offset = frame->cfa_offset;

	if (expression.at)
		number = read_base(&expression, &offset);
	rule->cfa_offset = (int32_t)offset;
	if ((number != REGISTER_SP && number != REGISTER_BP) || rule->cfa_offset != offset)
		return UNWIND_REGISTER;
	if (!expression.at)
		return number == REGISTER_SP ? UNWIND_SP : UNWIND_FP;
	if (number == REGISTER_SP && is_plt(expression, &rule->post))
		return UNWIND_PLT;
	if (!is_stored(expression, &rule->post))
		return UNWIND_REGISTER;
	return number == REGISTER_SP ? UNWIND_DEREF_SP : UNWIND_DEREF_FP;
}

static enum unwind_fp fp_of(const struct cfi_place *place, struct unwind_rule *rule)
{
	struct cfi_cursor expression = place->expression;
	enum unwind_fp fp = UNWIND_FP_LOST;
	int64_t offset = place->offset;

	if (place->how == CFI_UNSPECIFIED || place->how == CFI_SAME)
		return UNWIND_FP_SAME;
	if (place->how == CFI_AT_CFA)
		fp = UNWIND_FP_CFA;
	else if (place->how == CFI_EXPRESSION && read_base(&expression, &offset) == REGISTER_BP &&
		 expression.at == expression.end)
		fp = UNWIND_FP_AT_FP;
	if (fp == UNWIND_FP_LOST || (int32_t)offset != offset)
		return UNWIND_FP_LOST;
	rule->fp_offset = (int32_t)offset;
	return fp;
}

/* If the return address is at the stack pointer, no frame pointer can be stored below it. */
static enum unwind_call call_of_go(const struct unwind_rule *rule)
{
	return rule->cfa == UNWIND_SP && rule->cfa_offset == -RA_OFFSET ? UNWIND_CALL_FRAMELESS :
									  UNWIND_CALL_POINTER;
}

/* As at the start of a function: the return address is at the stack pointer. */
static bool is_entry(const struct cfi_frame *frame)
{
	return !frame->cfa_expression.at && frame->cfa_register == REGISTER_SP &&
	       frame->cfa_offset == -RA_OFFSET;
}

static void make_rule(const struct cfi_frame *frame, enum cfi_kind kind, struct unwind_rule *result)
{
	struct unwind_rule rule = { .cfa = UNWIND_REGISTER };

	if (kind == CFI_SIGNAL) {
		rule.cfa = UNWIND_SIGNAL;
	} else if ((kind == CFI_FIRST && is_entry(frame)) || frame->ra.how == CFI_UNDEFINED) {
		rule.cfa = UNWIND_END;
	} else if (frame->ra.how == CFI_AT_CFA && frame->ra.offset == RA_OFFSET) {
		rule.cfa = (uint8_t)cfa_of(frame, &rule);
	} else if (frame->ra.how == CFI_REGISTER && frame->ra.offset == REGISTER_DI) {
		rule.cfa = (uint8_t)cfa_of(frame, &rule);
		rule.ra = UNWIND_RA_SCRATCH;
	}
	/* Clear the rest if it is not used, because it would only make more rules. */
	if (rule.cfa == UNWIND_REGISTER)
		rule = (struct unwind_rule){ .cfa = UNWIND_REGISTER };
	else if (rule.cfa < UNWIND_SIGNAL)
		rule.fp = (uint8_t)fp_of(&frame->fp, &rule);
	if (kind == CFI_GO)
		rule.call = call_of_go(&rule);
	*result = rule;
}

static bool begins_with(const unsigned char *bytes, size_t size, const unsigned char *code,
			size_t length)
{
	return size >= length && !memcmp(bytes, code, length);
}

/* mov $SYS_rt_sigreturn, %rax or %eax; syscall */
static bool is_sigreturn(const unsigned char *bytes, size_t size)
{
	static const unsigned char wide[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	static const unsigned char narrow[] = { 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05 };

	return begins_with(bytes, size, wide, sizeof(wide)) ||
	       begins_with(bytes, size, narrow, sizeof(narrow));
}

static enum cfi_kind kind_in_go(const unsigned char *bytes, size_t size)
{
	/* nop; call: the start of goexit(), to which a goroutine's first function returns */
	static const unsigned char goexit[] = { 0x90, 0xe8 };

	return begins_with(bytes, size, goexit, sizeof(goexit)) ? CFI_FIRST : CFI_GO;
}

/*
 * glibc's description of __restore_rt begins a byte before it, because a return address is looked
 * up by the byte before it.
 *
 * A function that begins by copying another register to rsp uses the stack of the function that
 * returned to it, and has no caller there. __start_context does this: makecontext() makes a
 * coroutine return to it. With -fcf-protection, as on Ubuntu, endbr64 comes first. The cold part of
 * a function with a VLA may begin so, too, but its frame is not that of an entry: see make_rule().
 */
static enum cfi_kind kind_of_code(const unsigned char *bytes, size_t size, bool is_go)
{
	static const unsigned char endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	bool moves;

	if (is_sigreturn(bytes, size) || is_sigreturn(bytes + 1, size - 1))
		return CFI_SIGNAL;
	if (is_go)
		return kind_in_go(bytes, size);
	if (begins_with(bytes, size, endbr64, sizeof(endbr64))) {
		bytes += sizeof(endbr64);
		size -= sizeof(endbr64);
	}
	moves = size >= 3 && (bytes[0] == 0x48 || bytes[0] == 0x4c) && bytes[1] == 0x89;
	return moves && (bytes[2] & 0xc7) == 0xc4 ? CFI_FIRST : CFI_PLAIN;
}

/*
 * --- between functions --------------------------------------------------------------------------
 */

/* The length of a nop's operand; 0: it is another instruction. */
static size_t operand_size(const unsigned char *bytes, size_t size)
{
	static const unsigned char displacements[] = { 0, 1, 4, 0 };
	unsigned int mode, base;
	size_t used = 1;

	if (!size || bytes[0] >> 3 & 7)
		return 0;
	mode = bytes[0] >> 6;
	base = bytes[0] & 7;
	if (mode != 3 && base == 4) {
		if (size < 2)
			return 0;
		base = bytes[1] & 7;
		used++;
	}
	return used + (mode == 0 && base == 5 ? 4 : displacements[mode]);
}

/* The length of a nop, with prefixes, or of int3; 0: it is neither. */
static size_t padding_size(const unsigned char *bytes, size_t size)
{
	size_t at = 0, used;

	while (at < size && (bytes[at] == 0x66 || bytes[at] == 0x2e))
		at++;
	if (at < size && (bytes[at] == 0x90 || bytes[at] == 0xcc))
		return at + 1;
	if (size - at < 3 || bytes[at] != 0x0f || bytes[at + 1] != 0x1f)
		return 0;
	at += 2;
	used = operand_size(bytes + at, size - at);
	return used && used <= size - at ? at + used : 0;
}

/*
 * The length of syscall, of a test of its result, of a short conditional jump, or of ret; 0:
 * another one. glibc has these in clone(), between the descriptions for the parent and the child.
 */
static size_t still_size(const unsigned char *bytes, size_t size)
{
	static const unsigned char system_call[] = { 0x0f, 0x05 }, test[] = { 0x48, 0x85, 0xc0 };

	if (size >= sizeof(system_call) && !memcmp(bytes, system_call, sizeof(system_call)))
		return sizeof(system_call);
	if (size >= sizeof(test) && !memcmp(bytes, test, sizeof(test)))
		return sizeof(test);
	if (size >= 2 && (bytes[0] & 0xf0) == 0x70)
		return 2;
	return bytes[0] == 0xc3;
}

static enum cfi_gap gap_of(const unsigned char *bytes, size_t size)
{
	enum cfi_gap gap = CFI_GAP_PADDING;
	size_t at = 0, used;

	while (at < size) {
		used = padding_size(bytes + at, size - at);
		if (!used) {
			used = still_size(bytes + at, size - at);
			gap = CFI_GAP_STILL;
		}
		if (!used)
			return CFI_GAP_CODE;
		at += used;
	}
	return gap;
}

const struct cfi_machine cfi_x86_64 = {
	.elf = EM_X86_64,
	.fp = REGISTER_BP,
	.rule = make_rule,
	.kind_of_code = kind_of_code,
	.gap = gap_of,
};
