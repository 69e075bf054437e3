// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/disasm.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <capstone/capstone.h>

#include "base/library.h"

#define CAPSTONE_CALLS(call)                                                                       \
	call(cs_option) call(cs_open) call(cs_malloc) call(cs_disasm_iter) call(cs_free)           \
		call(cs_close)
#define TEXT_OF(number) TEXT_AS_IT_IS(number)
#define TEXT_AS_IT_IS(number) #number

LIBRARY(CAPSTONE_CALLS, "libcapstone.so." TEXT_OF(CS_API_MAJOR),
	"libcapstone" TEXT_OF(CS_API_MAJOR))

int disasm_load(struct error *err)
{
	static struct error failure;
	static int ret;

	/*
	 * A process that must not open files cannot load it later. It should report the reason of
	 * the first failure.
	 */
	if (!ret)
		ret = load_library(&failure);
	if (ret && err)
		*err = failure;
	return ret;
}

#define X86_LENGTH_MAX 15

/* A processor: capstone's names for it, and functions to interpret its instructions. */
struct processor {
	uint16_t machine;
	cs_arch arch;
	cs_mode mode;
	uint32_t step; /* bytes to skip after an invalid instruction */
	void (*branch)(const cs_insn *insn, struct instruction *result);
	/* Length of an instruction that capstone does not know; 0: unknown. May be NULL. */
	size_t (*length)(const uint8_t *bytes, size_t size);
};

struct disasm {
	const struct processor *processor;
	csh handle;
	cs_insn *insn;
};

static bool in_group(const cs_insn *insn, unsigned int group)
{
	uint8_t i;

	for (i = 0; i < insn->detail->groups_count; i++)
		if (insn->detail->groups[i] == group)
			return true;
	return false;
}

static void x86_branch(const cs_insn *insn, struct instruction *result)
{
	const cs_x86 *x86 = &insn->detail->x86;

	/* Capstone calls LOOP a relative branch, but not a jump. */
	result->is_return = in_group(insn, CS_GRP_RET);
	result->is_jump = !in_group(insn, CS_GRP_CALL) &&
			  (in_group(insn, CS_GRP_JUMP) || in_group(insn, CS_GRP_BRANCH_RELATIVE));
	result->has_target = (result->is_jump || in_group(insn, CS_GRP_CALL)) &&
			     x86->op_count == 1 && x86->operands[0].type == X86_OP_IMM;
	if (result->has_target)
		result->target = (uint64_t)x86->operands[0].imm;
}

static void arm64_branch(const cs_insn *insn, struct instruction *result)
{
	const cs_arm64 *arm64 = &insn->detail->arm64;
	const cs_arm64_op *last;

	result->is_return = insn->id == ARM64_INS_RET;
	/* Capstone calls BL and BLR jumps. The target is the last operand, after CBZ's register. */
	if (!in_group(insn, CS_GRP_JUMP) || !arm64->op_count)
		return;
	last = &arm64->operands[arm64->op_count - 1];
	result->is_jump = insn->id != ARM64_INS_BL && insn->id != ARM64_INS_BLR;
	result->has_target = last->type == ARM64_OP_IMM;
	if (result->has_target)
		result->target = (uint64_t)last->imm;
}

/* The length of ModR/M, SIB and displacement; size bytes are left. 0: too few. */
static size_t x86_operand_length(const uint8_t *bytes, size_t size)
{
	size_t length = 1;
	uint8_t mode, base;

	if (!size)
		return 0;
	mode = bytes[0] >> 6;
	base = bytes[0] & 7;
	if (mode == 3)
		return length;
	if (base == 4 && size < 2)
		return 0;
	if (base == 4)
		base = bytes[length++] & 7;
	else if (base == 5 && !mode)
		return length + 4;
	if (mode)
		return length + (mode == 1 ? 1 : 4);
	return length + (base == 5 ? 4 : 0);
}

/* The length of a VEX or EVEX prefix, with the number of its opcode map; 0: it is neither. */
static size_t x86_vector_prefix(const uint8_t *bytes, size_t size, uint8_t *map)
{
	if (size > 2 && bytes[0] == 0xc5) {
		*map = 1;
		return 2;
	}
	if (size > 3 && bytes[0] == 0xc4) {
		*map = bytes[1] & 0x1f;
		return 3;
	}
	if (size > 4 && bytes[0] == 0x62 && bytes[2] & 4) {
		*map = bytes[1] & 7;
		return 4;
	}
	return 0;
}

/*
 * Capstone 4 lacks most of AVX-512 and later extensions. The encoding alone gives the length of
 * such an instruction, so that decoding continues at the next one. For 64 bits only: in 32 bits
 * these prefixes are instructions too.
 */
static size_t x86_vector_length(const uint8_t *bytes, size_t size)
{
	static const char prefixes[] = "\x26\x2e\x36\x3e\x64\x65\x67";
	size_t at = 0, length;
	uint8_t map, opcode;

	while (at < size && bytes[at] && strchr(prefixes, bytes[at]))
		at++;
	length = x86_vector_prefix(bytes + at, size - at, &map);
	if (!length || !map || map == 4 || map > 6)
		return 0;
	at += length;
	opcode = bytes[at++];
	length = x86_operand_length(bytes + at, size - at);
	if (!length)
		return 0;
	at += length;
	if (map == 3 || (map == 1 && ((opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 ||
				      (opcode >= 0xc4 && opcode <= 0xc6))))
		at++;
	return at <= size && at <= X86_LENGTH_MAX ? at : 0;
}

static const struct processor processors[] = {
	{ EM_X86_64, CS_ARCH_X86, CS_MODE_64, 1, x86_branch, x86_vector_length },
	{ EM_386, CS_ARCH_X86, CS_MODE_32, 1, x86_branch, NULL },
	{ EM_AARCH64, CS_ARCH_ARM64, CS_MODE_ARM, 4, arm64_branch, NULL },
};

static const struct processor *find_processor(uint16_t machine)
{
	size_t i;

	for (i = 0; i < sizeof(processors) / sizeof(processors[0]); i++)
		if (processors[i].machine == machine)
			return &processors[i];
	return NULL;
}

/*
 * Capstone 4 does not check its allocations. Where one fails, only a process that reads files ends:
 * see answer_instructions().
 */
static int open_capstone(struct disasm *disasm, enum disasm_syntax syntax)
{
	if (lib.cs_open(disasm->processor->arch, disasm->processor->mode, &disasm->handle))
		return -ENOTSUP;
	lib.cs_option(disasm->handle, CS_OPT_DETAIL, CS_OPT_ON);
	if (disasm->processor->arch == CS_ARCH_X86 && syntax == DISASM_ATT)
		lib.cs_option(disasm->handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	disasm->insn = lib.cs_malloc(disasm->handle);
	return 0;
}

int disasm_open(uint16_t machine, enum disasm_syntax syntax, struct disasm **result,
		struct error *err)
{
	struct disasm *disasm;
	int ret;

	if (!find_processor(machine))
		return error_set(err, -ENOTSUP,
				 "machine %u of the ELF header is none that we disassemble",
				 machine);
	ret = disasm_load(err);
	if (ret)
		return ret;
	disasm = calloc(1, sizeof(*disasm));
	if (!disasm)
		return error_errno(err, -ENOMEM, "disassembly");
	disasm->processor = find_processor(machine);
	ret = open_capstone(disasm, syntax);
	if (ret) {
		free(disasm);
		return error_errno(err, ret, "disassembly");
	}
	*result = disasm;
	return 0;
}

static void no_instruction(const struct disasm *disasm, const uint8_t *bytes, size_t size,
			   struct instruction *result)
{
	size_t length = (size_t)snprintf(result->text, sizeof(result->text), ".byte"), i;
	size_t known = disasm->processor->length ? disasm->processor->length(bytes, size) : 0;

	result->size = known			      ? (uint32_t)known :
		       size < disasm->processor->step ? (uint32_t)size :
							disasm->processor->step;
	for (i = 0; i < result->size; i++)
		length += (size_t)snprintf(result->text + length, sizeof(result->text) - length,
					   "%s0x%02x", i ? ", " : " ", bytes[i]);
}

void disasm_next(struct disasm *disasm, const uint8_t *bytes, size_t size, uint64_t address,
		 struct instruction *result)
{
	const uint8_t *at = bytes;
	const cs_insn *insn = disasm->insn;

	*result = (struct instruction){ 0 };
	if (!lib.cs_disasm_iter(disasm->handle, &at, &size, &address, disasm->insn)) {
		no_instruction(disasm, bytes, size, result);
		return;
	}
	result->size = insn->size;
	snprintf(result->text, sizeof(result->text), "%s%s%s", insn->mnemonic,
		 *insn->op_str ? " " : "", insn->op_str);
	disasm->processor->branch(insn, result);
}

void disasm_close(struct disasm *disasm)
{
	if (!disasm)
		return;
	lib.cs_free(disasm->insn, 1);
	lib.cs_close(&disasm->handle);
	free(disasm);
}
