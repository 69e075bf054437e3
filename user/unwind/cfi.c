// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Interprets DWARF call-frame information.
 *
 * To find the caller of a function, a walk needs the canonical frame address (CFA, the stack
 * pointer before the call), and from it the saved return address and frame pointer. Compilers
 * describe them in .eh_frame, not as a table but as small programs. A CIE has the instructions that
 * many functions share, and an FDE has those of one function, for example:
 *
 *   CIE    def_cfa rsp+8, return address at CFA-8
 *   FDE    advance 1, def_cfa_offset 16, rbp at CFA-16     after push %rbp
 *          advance 3, def_cfa_register rbp                 after mov %rsp,%rbp
 *
 * Running them gives rows: from pc on, this is how to find the caller. cfi_next() reads the next
 * FDE, and cfi_run_next() runs up to its next row. unwind_table.c turns rows into a table for the
 * programs in the kernel, by unwind_x86_64.c or unwind_aarch64.c.
 */
#include "unwind/cfi.h"

#include <dwarf.h>

#define LENGTH_64BIT 0xffffffff /* the length follows in 8 bytes */
#define LEB_BYTES_MAX 10 /* for 64 bits */

/* An encoding of addresses. */
#define ENCODING_FORMAT 0x0f
#define ENCODING_SIGNED 0x08
#define ENCODING_BASE 0xf0

#ifdef __aarch64__
const struct cfi_machine *cfi_machine = &cfi_aarch64;

/*
 * The stack is near the top of the address space, and therefore its address has as many bits as
 * those of code. With 52-bit addresses, only mappings that ask for it are above 2^48.
 */
uint64_t cfi_code_mask(void)
{
	return UINT64_MAX >> __builtin_clzl((unsigned long)__builtin_frame_address(0));
}
#else
const struct cfi_machine *cfi_machine = &cfi_x86_64;

uint64_t cfi_code_mask(void)
{
	return UINT64_MAX;
}
#endif

/* Reads a LEB128 number. Bits beyond the 64th are ignored. */
uint64_t cfi_leb(struct cfi_cursor *cursor, bool is_signed)
{
	unsigned int bits = 0;
	uint64_t value = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)cfi_number(cursor, 1);
		if (bits < 64)
			value |= (uint64_t)(byte & 0x7f) << bits;
		bits += 7;
	} while (byte & 0x80 && bits < 7 * LEB_BYTES_MAX);
	if (is_signed && byte & 0x40 && bits < 64)
		value |= UINT64_MAX << bits;
	cursor->bad = cursor->bad || byte & 0x80;
	return cursor->bad ? 0 : value;
}

/* Reads a block, after its length in a ULEB128. */
static struct cfi_cursor read_block(struct cfi_cursor *cursor)
{
	uint64_t size = cfi_leb(cursor, false);
	struct cfi_cursor block = { cursor->at, cursor->at, false };

	if (size > (uint64_t)(cursor->end - cursor->at))
		cursor->bad = block.bad = true;
	else
		block.end = cursor->at += size;
	return block;
}

/* Reads a number of fixed size. LEB128, which linkers do not write, is malformed. */
static uint64_t read_encoded(struct cfi_cursor *cursor, uint8_t encoding)
{
	static const uint8_t sizes[ENCODING_FORMAT + 1] = {
		[DW_EH_PE_absptr] = 8, [DW_EH_PE_udata2] = 2, [DW_EH_PE_udata4] = 4,
		[DW_EH_PE_udata8] = 8, [DW_EH_PE_sdata2] = 2, [DW_EH_PE_sdata4] = 4,
		[DW_EH_PE_sdata8] = 8,
	};
	unsigned int size = sizes[encoding & ENCODING_FORMAT];
	uint64_t value, sign;

	if (!size) {
		cursor->bad = true;
		return 0;
	}
	value = cfi_number(cursor, size);
	sign = 1ULL << (8 * size - 1);
	return encoding & ENCODING_SIGNED ? (value ^ sign) - sign : value;
}

/* Reads an address in an encoding of .eh_frame. It must be absolute or relative to itself. */
static uint64_t read_address(struct cfi_cursor *cursor, const struct cfi_section *section,
			     uint8_t encoding)
{
	uint64_t here = section->address + (uint64_t)(cursor->at - section->bytes);
	uint64_t value = read_encoded(cursor, encoding);

	if ((encoding & ENCODING_BASE) == DW_EH_PE_pcrel)
		return value + here;
	cursor->bad = cursor->bad || encoding & ENCODING_BASE;
	return value;
}

/* The common beginning of all entries. */
struct cfi_head {
	bool is_cie;
	uint64_t cie; /* of an FDE: the offset of its CIE */
	struct cfi_cursor rest; /* the body; empty for the terminator of an object's entries */
};

/* False: nothing can be read from there on. */
static bool read_head(const struct cfi_section *section, uint64_t at, struct cfi_head *result)
{
	struct cfi_cursor cursor = { .end = section->bytes + section->size };
	uint64_t length, id, id_at;
	bool is_wide;

	if (at >= section->size)
		return false;
	cursor.at = section->bytes + at;
	length = cfi_number(&cursor, 4);
	is_wide = length == LENGTH_64BIT;
	if (is_wide)
		length = cfi_number(&cursor, 8);
	if (cursor.bad || length > (uint64_t)(cursor.end - cursor.at))
		return false;
	cursor.end = cursor.at + length;
	*result = (struct cfi_head){ .rest = cursor };
	if (!length)
		return true;
	id_at = (uint64_t)(cursor.at - section->bytes);
	id = cfi_number(&result->rest, is_wide && !section->is_eh ? 8 : 4);
	if (section->is_eh)
		result->is_cie = !id;
	else
		result->is_cie = id == (is_wide ? DW_CIE_ID_64 : DW_CIE_ID_32);
	result->cie = section->is_eh ? id_at - id : id;
	return true;
}

/*
 * Reads the data of one letter of the augmentation string. After an unknown letter, nothing can be
 * read.
 */
static void read_letter(unsigned int letter, struct cfi_cursor *data, struct cfi_cie *cie)
{
	switch (letter) {
	case 'R':
		cie->encoding = (uint8_t)cfi_number(data, 1);
		break;
	case 'L':
		cfi_number(data, 1);
		break;
	case 'P':
		read_encoded(data, (uint8_t)cfi_number(data, 1));
		break;
	/*
	 * 'S' says that the caller was interrupted. It means nothing here: OCaml's runtime and
	 * others also mark functions that switch stacks, which were called, and kind_of_code()
	 * recognizes the kernel's frame. In other frames, an interrupted pc is not where a call
	 * stores a return address, and such a rule is not followed.
	 */
	case 'S':
	/* arm64's: addresses are signed with the second key, and memory on the stack has tags. */
	case 'B':
	case 'G':
		break;
	default:
		data->bad = true;
	}
}

/*
 * .eh_frame has versions 1 and 3. Version 4 came with DWARF 4, and has sizes of addresses and
 * segments.
 */
static bool read_cie_fields(struct cfi_cursor *cursor, unsigned int version, struct cfi_cie *cie)
{
	if (version != 1 && version != 3 && version != 4)
		return false;
	if (version == 4 && (cfi_number(cursor, 1) != 8 || cfi_number(cursor, 1)))
		return false;
	cie->code_factor = cfi_leb(cursor, false);
	cie->data_factor = cfi_leb(cursor, true);
	cie->ra = version == 1 ? cfi_number(cursor, 1) : cfi_leb(cursor, false);
	return true;
}

static bool read_cie(const struct cfi_section *section, struct cfi_cursor cursor,
		     struct cfi_cie *cie)
{
	unsigned int version = (unsigned int)cfi_number(&cursor, 1);
	struct cfi_cursor letters = cursor, data = { 0 };
	unsigned int letter = (unsigned int)cfi_number(&letters, 1);

	while (cfi_number(&cursor, 1))
		;
	letters.end = cursor.at;
	cie->has_augmentation = letter == 'z';
	if ((letter && letter != 'z') || !read_cie_fields(&cursor, version, cie))
		return false;
	if (letter)
		data = read_block(&cursor);
	while (letter && (letter = (unsigned int)cfi_number(&letters, 1)))
		read_letter(letter, &data, cie);
	return !letters.bad && !data.bad && cfi_run_initial(section, cie, cursor);
}

/* False: the budget is too small for the entry. */
static bool charge_budget(struct cfi_section *section, const struct cfi_cursor *rest)
{
	uint64_t bytes = 8 + (uint64_t)(rest->end - rest->at);

	section->is_exhausted = section->is_exhausted || bytes > section->budget;
	if (!section->is_exhausted)
		section->budget -= bytes;
	return !section->is_exhausted;
}

/* Never NULL: an unusable entry has `usable` unset. */
static const struct cfi_cie *find_cie(struct cfi_section *section, uint64_t at)
{
	struct cfi_cie *cie = &section->cies[(at >> 2) % CFI_CIES];
	struct cfi_head head;

	if (cie->is_used && cie->at == at)
		return cie;
	*cie = (struct cfi_cie){ 0 };
	if (!read_head(section, at, &head) || !head.is_cie || !charge_budget(section, &head.rest))
		return cie;
	cie->is_used = true;
	cie->at = at;
	cie->usable = read_cie(section, head.rest, cie);
	return cie;
}

static bool read_function(struct cfi_section *section, const struct cfi_head *head,
			  struct cfi_function *result)
{
	const struct cfi_cie *cie = find_cie(section, head->cie);

	*result = (struct cfi_function){ .cie = cie, .program = head->rest };
	if (!cie->usable)
		return false;
	result->address = read_address(&result->program, section, cie->encoding);
	result->size = read_encoded(&result->program, cie->encoding);
	if (cie->has_augmentation)
		read_block(&result->program);
	return !result->program.bad;
}

bool cfi_next(struct cfi_section *section, struct cfi_function *result)
{
	struct cfi_head head;

	while (section->next < section->size) {
		if (!read_head(section, section->next, &head)) {
			section->malformed++;
			return false;
		}
		if (!charge_budget(section, &head.rest))
			return false;
		section->next = (size_t)(head.rest.end - section->bytes);
		if (head.is_cie || head.rest.at == head.rest.end)
			continue;
		if (read_function(section, &head, result))
			return true;
		if (section->is_exhausted)
			return false;
		section->malformed++;
	}
	return false;
}

/* --- running it ------------------------------------------------------------------------------- */

/* The two high bits select a primary opcode; then the low six are its operand. */
#define PRIMARY_SHIFT 6
#define PRIMARY_OPERAND 0x3f

#define NO_REGISTER UINT64_MAX

enum operand { NONE, BYTES_1, BYTES_2, BYTES_4, ULEB, SLEB, BLOCK };
enum action {
	UNKNOWN,
	NOTHING,
	ADVANCE,
	SET_PC,
	DEF_CFA,
	DEF_CFA_REGISTER,
	DEF_CFA_OFFSET,
	DEF_CFA_EXPRESSION,
	SET_RULE,
	RESTORE,
	REMEMBER_STATE,
	RESTORE_STATE,
};

struct instruction_kind {
	enum action action;
	enum cfi_how how;
	bool has_register; /* before the operand */
	enum operand operand;
	int factor; /* of the operand: 1 or -1 times the CIE's data_factor; 0: none */
};

static const struct instruction_kind primary[] = {
	[DW_CFA_advance_loc >> PRIMARY_SHIFT] = { ADVANCE },
	[DW_CFA_offset >> PRIMARY_SHIFT] = { SET_RULE, CFI_AT_CFA, false, ULEB, 1 },
	[DW_CFA_restore >> PRIMARY_SHIFT] = { RESTORE },
};

static const struct instruction_kind kinds[1 << PRIMARY_SHIFT] = {
	[DW_CFA_nop] = { NOTHING },
	[DW_CFA_set_loc] = { SET_PC },
	[DW_CFA_advance_loc1] = { ADVANCE, 0, false, BYTES_1 },
	[DW_CFA_advance_loc2] = { ADVANCE, 0, false, BYTES_2 },
	[DW_CFA_advance_loc4] = { ADVANCE, 0, false, BYTES_4 },
	[DW_CFA_offset_extended] = { SET_RULE, CFI_AT_CFA, true, ULEB, 1 },
	[DW_CFA_restore_extended] = { RESTORE, 0, true },
	[DW_CFA_undefined] = { SET_RULE, CFI_UNDEFINED, true },
	[DW_CFA_same_value] = { SET_RULE, CFI_SAME, true },
	[DW_CFA_register] = { SET_RULE, CFI_REGISTER, true, ULEB },
	[DW_CFA_remember_state] = { REMEMBER_STATE },
	[DW_CFA_restore_state] = { RESTORE_STATE },
	[DW_CFA_def_cfa] = { DEF_CFA, 0, true, ULEB },
	[DW_CFA_def_cfa_register] = { DEF_CFA_REGISTER, 0, true },
	[DW_CFA_def_cfa_offset] = { DEF_CFA_OFFSET, 0, false, ULEB },
	[DW_CFA_def_cfa_expression] = { DEF_CFA_EXPRESSION, 0, false, BLOCK },
	[DW_CFA_expression] = { SET_RULE, CFI_EXPRESSION, true, BLOCK },
	[DW_CFA_offset_extended_sf] = { SET_RULE, CFI_AT_CFA, true, SLEB, 1 },
	[DW_CFA_def_cfa_sf] = { DEF_CFA, 0, true, SLEB, 1 },
	[DW_CFA_def_cfa_offset_sf] = { DEF_CFA_OFFSET, 0, false, SLEB, 1 },
	[DW_CFA_val_offset] = { SET_RULE, CFI_VALUE, true, ULEB },
	[DW_CFA_val_offset_sf] = { SET_RULE, CFI_VALUE, true, SLEB },
	[DW_CFA_val_expression] = { SET_RULE, CFI_VALUE, true, BLOCK },
	/* 0x2c is DW_CFA_AARCH64_negate_ra_state_with_pc, which dwarf.h may lack. */
	[DW_CFA_AARCH64_negate_ra_state] = { NOTHING },
	[DW_CFA_AARCH64_negate_ra_state - 1] = { NOTHING },
	[DW_CFA_GNU_args_size] = { NOTHING, 0, false, ULEB },
	[DW_CFA_GNU_negative_offset_extended] = { SET_RULE, CFI_AT_CFA, true, ULEB, -1 },
};

/* An instruction with its operands. */
struct dwarf_instruction {
	const struct instruction_kind *kind;
	uint64_t number; /* of a register */
	uint64_t operand;
	struct cfi_cursor block;
};

static uint64_t read_operand(struct cfi_cursor *program, enum operand operand)
{
	static const uint8_t bytes[] = { [BYTES_1] = 1, [BYTES_2] = 2, [BYTES_4] = 4 };

	if (operand == ULEB || operand == SLEB)
		return cfi_leb(program, operand == SLEB);
	return cfi_number(program, bytes[operand]);
}

/* A file may contain any numbers. All arithmetic is unsigned and wraps. */
static struct dwarf_instruction read_instruction(struct cfi_run *run)
{
	unsigned int opcode = (unsigned int)cfi_number(&run->program, 1);
	struct dwarf_instruction instruction = { .kind = &kinds[opcode & PRIMARY_OPERAND] };

	if (opcode >> PRIMARY_SHIFT) {
		instruction.kind = &primary[opcode >> PRIMARY_SHIFT];
		instruction.number = instruction.operand = opcode & PRIMARY_OPERAND;
	}
	if (instruction.kind->has_register)
		instruction.number = cfi_leb(&run->program, false);
	if (instruction.kind->operand == BLOCK)
		instruction.block = read_block(&run->program);
	else if (instruction.kind->operand != NONE)
		instruction.operand = read_operand(&run->program, instruction.kind->operand);
	if (instruction.kind->factor)
		instruction.operand *= run->cie->data_factor * (uint64_t)instruction.kind->factor;
	return instruction;
}

static struct cfi_place *place_in(struct cfi_run *run, struct cfi_frame *frame, uint64_t number)
{
	if (number == cfi_machine->fp)
		return &frame->fp;
	return number == run->cie->ra ? &frame->ra : &run->ignored;
}

/* Stops at the function's end. */
static void advance(struct cfi_run *run, uint64_t by)
{
	run->pc = by < run->end - run->pc ? run->pc + by : run->end;
}

static void set_pc(struct cfi_run *run)
{
	uint64_t address = read_address(&run->program, run->section, run->cie->encoding);

	if (address < run->address || address - run->address < run->pc)
		run->program.bad = true;
	else
		advance(run, address - run->address - run->pc);
}

/*
 * As in gcc's unwinder, an expression keeps the offset, and DW_CFA_def_cfa_register ends it. DWARF
 * and libdw do it differently, but libgcrypt's assembly needs this.
 */
static void set_cfa(struct cfi_run *run, uint64_t number, uint64_t offset)
{
	run->frame.cfa_register = number;
	run->frame.cfa_offset = (int64_t)offset;
	run->frame.cfa_expression.at = NULL;
}

static bool remember(struct cfi_run *run)
{
	if (run->nr_remembered == CFI_REMEMBERED_MAX)
		return false;
	run->remembered[run->nr_remembered++] = run->frame;
	return true;
}

static bool restore_remembered(struct cfi_run *run)
{
	if (!run->nr_remembered)
		return false;
	run->frame = run->remembered[--run->nr_remembered];
	return true;
}

/* False: the instruction makes no sense here. */
static bool execute(struct cfi_run *run, const struct dwarf_instruction *instruction)
{
	struct cfi_frame *frame = &run->frame, initial;

	switch (instruction->kind->action) {
	case UNKNOWN:
		return false;
	case NOTHING:
		return true;
	case ADVANCE:
		advance(run, instruction->operand * run->cie->code_factor);
		return true;
	case SET_PC:
		set_pc(run);
		return true;
	case DEF_CFA:
		set_cfa(run, instruction->number, instruction->operand);
		return true;
	case DEF_CFA_REGISTER:
		set_cfa(run, instruction->number, (uint64_t)frame->cfa_offset);
		return true;
	case DEF_CFA_OFFSET:
		frame->cfa_offset = (int64_t)instruction->operand;
		return true;
	case DEF_CFA_EXPRESSION:
		frame->cfa_expression = instruction->block;
		return true;
	case SET_RULE:
		*place_in(run, frame, instruction->number) =
			(struct cfi_place){ instruction->kind->how, (int64_t)instruction->operand,
					    instruction->block };
		return true;
	case RESTORE:
		initial = run->cie->initial;
		*place_in(run, frame, instruction->number) =
			*place_in(run, &initial, instruction->number);
		return run->is_function;
	case REMEMBER_STATE:
		return remember(run);
	case RESTORE_STATE:
		return restore_remembered(run);
	}
	return false;
}

static void run_to_next_row(struct cfi_run *run)
{
	struct dwarf_instruction instruction;

	run->row = run->pc;
	while (run->pc == run->row && run->program.at < run->program.end && !run->program.bad) {
		instruction = read_instruction(run);
		if (!execute(run, &instruction))
			run->program.bad = true;
	}
}

void cfi_run_begin(struct cfi_run *run, const struct cfi_section *section,
		   const struct cfi_function *function)
{
	run->section = section;
	run->cie = function->cie;
	run->is_function = true;
	run->program = function->program;
	run->address = function->address;
	run->pc = 0;
	run->end = function->size;
	run->frame = function->cie->initial;
	run->nr_remembered = 0;
}

bool cfi_run_next(struct cfi_run *run)
{
	if (run->pc == run->end)
		return false;
	run_to_next_row(run);
	/* No instruction advanced: the row lasts to the function's end. */
	if (run->pc == run->row)
		run->pc = run->end;
	return !run->program.bad;
}

bool cfi_run_initial(const struct cfi_section *section, struct cfi_cie *cie,
		     struct cfi_cursor program)
{
	struct cfi_run run = { .section = section, .cie = cie, .program = program, .end = 1 };

	run.frame.cfa_register = NO_REGISTER;
	run_to_next_row(&run);
	cie->initial = run.frame;
	return !run.program.bad && !run.pc;
}
