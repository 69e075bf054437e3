// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <dwarf.h>

#include "unwind/cfi.h"

/* An opcode with one of these bits has an operand in its other bits. */
#define PRIMARY_SHIFT 6
#define PRIMARY_OPERAND 0x3f

#define NO_REGISTER UINT64_MAX

enum operand { NONE, BYTES_1, BYTES_2, BYTES_4, ULEB, SLEB, BLOCK };
enum action {
	UNKNOWN,
	NOTHING,
	ADVANCE,
	SET_PC,
	CFA,
	CFA_REGISTER,
	CFA_OFFSET,
	CFA_EXPRESSION,
	PLACE,
	RESTORE,
	REMEMBER,
	RECALL,
};

struct instruction_kind {
	enum action action;
	enum cfi_how how;
	bool has_register; /* before the operand */
	enum operand operand;
	int factor; /* 0: the operand is not in units of the CIE's data_factor */
};

static const struct instruction_kind primary[] = {
	[DW_CFA_advance_loc >> PRIMARY_SHIFT] = { ADVANCE },
	[DW_CFA_offset >> PRIMARY_SHIFT] = { PLACE, CFI_AT_CFA, false, ULEB, 1 },
	[DW_CFA_restore >> PRIMARY_SHIFT] = { RESTORE },
};

static const struct instruction_kind kinds[1 << PRIMARY_SHIFT] = {
	[DW_CFA_nop] = { NOTHING },
	[DW_CFA_set_loc] = { SET_PC },
	[DW_CFA_advance_loc1] = { ADVANCE, 0, false, BYTES_1 },
	[DW_CFA_advance_loc2] = { ADVANCE, 0, false, BYTES_2 },
	[DW_CFA_advance_loc4] = { ADVANCE, 0, false, BYTES_4 },
	[DW_CFA_offset_extended] = { PLACE, CFI_AT_CFA, true, ULEB, 1 },
	[DW_CFA_restore_extended] = { RESTORE, 0, true },
	[DW_CFA_undefined] = { PLACE, CFI_UNDEFINED, true },
	[DW_CFA_same_value] = { PLACE, CFI_SAME, true },
	[DW_CFA_register] = { PLACE, CFI_REGISTER, true, ULEB },
	[DW_CFA_remember_state] = { REMEMBER },
	[DW_CFA_restore_state] = { RECALL },
	[DW_CFA_def_cfa] = { CFA, 0, true, ULEB },
	[DW_CFA_def_cfa_register] = { CFA_REGISTER, 0, true },
	[DW_CFA_def_cfa_offset] = { CFA_OFFSET, 0, false, ULEB },
	[DW_CFA_def_cfa_expression] = { CFA_EXPRESSION, 0, false, BLOCK },
	[DW_CFA_expression] = { PLACE, CFI_EXPRESSION, true, BLOCK },
	[DW_CFA_offset_extended_sf] = { PLACE, CFI_AT_CFA, true, SLEB, 1 },
	[DW_CFA_def_cfa_sf] = { CFA, 0, true, SLEB, 1 },
	[DW_CFA_def_cfa_offset_sf] = { CFA_OFFSET, 0, false, SLEB, 1 },
	[DW_CFA_val_offset] = { PLACE, CFI_ELSEWHERE, true, ULEB },
	[DW_CFA_val_offset_sf] = { PLACE, CFI_ELSEWHERE, true, SLEB },
	[DW_CFA_val_expression] = { PLACE, CFI_ELSEWHERE, true, BLOCK },
	[DW_CFA_GNU_args_size] = { NOTHING, 0, false, ULEB },
	[DW_CFA_GNU_negative_offset_extended] = { PLACE, CFI_AT_CFA, true, ULEB, -1 },
};

/* An instruction with its operands. */
struct instruction_read {
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

/* Numbers in a file may be any: they wrap, and do not overflow. */
static struct instruction_read read_instruction(struct cfi_run *run)
{
	unsigned int opcode = (unsigned int)cfi_number(&run->program, 1);
	struct instruction_read read = { .kind = &kinds[opcode & PRIMARY_OPERAND] };

	if (opcode >> PRIMARY_SHIFT) {
		read.kind = &primary[opcode >> PRIMARY_SHIFT];
		read.number = read.operand = opcode & PRIMARY_OPERAND;
	}
	if (read.kind->has_register)
		read.number = cfi_leb(&run->program, false);
	if (read.kind->operand == BLOCK)
		read.block = cfi_block(&run->program);
	else if (read.kind->operand != NONE)
		read.operand = read_operand(&run->program, read.kind->operand);
	if (read.kind->factor)
		read.operand *= run->cie->data_factor * (uint64_t)read.kind->factor;
	return read;
}

static struct cfi_place *place_in(struct cfi_run *run, struct cfi_frame *frame, uint64_t number)
{
	if (number == cfi_register_fp)
		return &frame->fp;
	return number == run->cie->ra ? &frame->ra : &run->ignored;
}

/* Beyond the end of the function nothing is run. */
static void advance(struct cfi_run *run, uint64_t by)
{
	run->pc = by < run->end - run->pc ? run->pc + by : run->end;
}

static void set_pc(struct cfi_run *run)
{
	uint64_t address = cfi_address(&run->program, run->section, run->cie->encoding);

	if (address < run->address || address - run->address < run->pc)
		run->program.bad = true;
	else
		advance(run, address - run->address - run->pc);
}

static void set_cfa(struct cfi_run *run, uint64_t number, uint64_t offset)
{
	run->frame.cfa_register = number;
	run->frame.cfa_offset = (int64_t)offset;
	run->frame.cfa_expression.at = NULL;
}

/* False: what it says makes no sense here. */
static bool execute(struct cfi_run *run, const struct instruction_read *read)
{
	struct cfi_frame *frame = &run->frame, initial;

	switch (read->kind->action) {
	case UNKNOWN:
		return false;
	case NOTHING:
		return true;
	case ADVANCE:
		advance(run, read->operand * run->cie->code_factor);
		return true;
	case SET_PC:
		set_pc(run);
		return true;
	case CFA:
		set_cfa(run, read->number, read->operand);
		return true;
	/*
	 * The offset is kept behind an expression, and the register ends that, as in gcc's unwinder.
	 * DWARF and libdw do not have it so, but libgcrypt's assembly needs it.
	 */
	case CFA_REGISTER:
		set_cfa(run, read->number, (uint64_t)frame->cfa_offset);
		return true;
	case CFA_OFFSET:
		frame->cfa_offset = (int64_t)read->operand;
		return true;
	case CFA_EXPRESSION:
		frame->cfa_expression = read->block;
		return true;
	case PLACE:
		*place_in(run, frame, read->number) =
			(struct cfi_place){ read->kind->how, (int64_t)read->operand, read->block };
		return true;
	case RESTORE:
		initial = run->cie->initial;
		*place_in(run, frame, read->number) = *place_in(run, &initial, read->number);
		return run->is_function;
	case REMEMBER:
		if (run->nr_remembered == CFI_REMEMBERED_MAX)
			return false;
		run->remembered[run->nr_remembered++] = *frame;
		return true;
	case RECALL:
		if (!run->nr_remembered)
			return false;
		*frame = run->remembered[--run->nr_remembered];
		return true;
	}
	return false;
}

/* Runs up to the next pc. */
static void run_on(struct cfi_run *run)
{
	struct instruction_read read;

	run->row = run->pc;
	while (run->pc == run->row && run->program.at < run->program.end && !run->program.bad) {
		read = read_instruction(run);
		if (!execute(run, &read))
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
	run_on(run);
	if (run->pc == run->row)
		run->pc = run->end;
	return !run->program.bad;
}

bool cfi_run_initial(const struct cfi_section *section, struct cfi_cie *cie,
		     struct cfi_cursor program)
{
	struct cfi_run run = { .section = section, .cie = cie, .program = program, .end = 1 };

	run.frame.cfa_register = NO_REGISTER;
	run_on(&run);
	cie->initial = run.frame;
	return !run.program.bad && !run.pc;
}
