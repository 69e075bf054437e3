// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Call-frame information made by hand: each instruction, each part of an entry, and what is refused.
 */
#include "unwind/unwind_table.h"

#include <criterion/criterion.h>
#include <dwarf.h>
#include <string.h>

#include "test_unwind_fixture.h"

TestSuite(unwind_cfi, .init = unwind_begin, .fini = unwind_end);

/* A function of 0x40 bytes. */
static void check_program(const char *want, struct cfi_bytes program)
{
	eh.size = 0;
	put_cie(&eh, AT_CALL);
	put_function(&eh, START, 0x40, program);
	check_rows(want);
	cr_expect_eq(unwound.malformed, 0);
}

#define CHECK(want, ...) check_program(want, BYTES(__VA_ARGS__))

/* It is refused, and with it its function. */
static void check_malformed(struct cfi_bytes program)
{
	eh.size = 0;
	put_cie(&eh, AT_CALL);
	put_function(&eh, START, 0x40, program);
	check_rows("");
	cr_expect_eq(unwound.malformed, 1);
	cr_expect_eq(unwound.functions, 0);
}

#define REFUSE(...) check_malformed(BYTES(__VA_ARGS__))

Test(unwind_cfi, advances)
{
	check_program("0 sp+8, 40 none", NOTHING);
	CHECK("0 sp+8, 1 sp+16, 40 none", DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16);
	CHECK("0 sp+8, 2 sp+16, 40 none", DW_CFA_advance_loc1, 2, DW_CFA_def_cfa_offset, 16);
	CHECK("0 sp+8, 3 sp+16, 40 none", DW_CFA_advance_loc2, 3, 0, DW_CFA_def_cfa_offset, 16);
	CHECK("0 sp+8, 4 sp+16, 40 none", DW_CFA_advance_loc4, 4, 0, 0, 0, DW_CFA_def_cfa_offset,
	      16);
	/* What changes nothing is no row, and what is before an advance of none is no row either. */
	CHECK("0 sp+8, 40 none", DW_CFA_nop, DW_CFA_advance_loc | 1, DW_CFA_GNU_args_size, 16,
	      DW_CFA_advance_loc | 1, DW_CFA_nop);
	CHECK("0 sp+24, 40 none", DW_CFA_def_cfa_offset, 16, DW_CFA_advance_loc | 0,
	      DW_CFA_def_cfa_offset, 24);
	/* The function ends where it ends, and what comes behind is not even read. */
	CHECK("0 sp+8, 3f sp+16, 40 none", DW_CFA_advance_loc | 63, DW_CFA_def_cfa_offset, 16,
	      DW_CFA_advance_loc | 2, DW_CFA_def_cfa_offset, 24, 0x3f);
	CHECK("0 sp+8, 40 none", DW_CFA_advance_loc4, 0xff, 0xff, 0xff, 0xff, DW_CFA_def_cfa_offset,
	      16);
}

Test(unwind_cfi, set_loc)
{
	eh.encoding = DW_EH_PE_udata4;
	CHECK("0 sp+8, 10 sp+16, 40 none", DW_CFA_set_loc, 0x10, 0x10, 0x40, 0,
	      DW_CFA_def_cfa_offset, 16);
	CHECK("0 sp+8, 40 none", DW_CFA_set_loc, 0x40, 0x10, 0x40, 0, DW_CFA_def_cfa_offset, 16);
	REFUSE(DW_CFA_set_loc, 0xff, 0x0f, 0x40, 0);
	REFUSE(DW_CFA_advance_loc | 2, DW_CFA_set_loc, 1, 0x10, 0x40, 0);
	REFUSE(DW_CFA_set_loc, 0x10, 0x10, 0x40);
	eh.encoding = PCREL_4;
	eh.size = 0;
	put_cie(&eh, AT_CALL);
	put_function(&eh, START, 0x40, NOTHING);
	/* The address is relative to itself, at the end of the entry: it is put in by hand. */
	put_bytes(&eh, (uint8_t[]){ DW_CFA_set_loc }, 1);
	put_address(&eh, START + 0x20);
	put_bytes(&eh, (uint8_t[]){ DW_CFA_def_cfa_offset, 32 }, 2);
	eh.bytes[eh.bytes[0] + 4] = (uint8_t)(eh.bytes[eh.bytes[0] + 4] + 7);
	check_rows("0 sp+8, 20 sp+32, 40 none");
}

Test(unwind_cfi, cfa)
{
	CHECK("0 bp+16, 40 none", DW_CFA_def_cfa, 6, 16);
	CHECK("0 bp+16, 40 none", DW_CFA_def_cfa_sf, 6, 0x7e);
	CHECK("0 bp+8, 40 none", DW_CFA_def_cfa_register, 6);
	CHECK("0 sp+300, 40 none", DW_CFA_def_cfa_offset, 0xac, 2);
	CHECK("0 sp+24, 40 none", DW_CFA_def_cfa_offset_sf, 0x7d);
	/* Another register, and what no rule has room for. */
	CHECK("0 register, 40 none", DW_CFA_def_cfa_register, 10);
	CHECK("0 sp+2147483647, 40 none", DW_CFA_def_cfa_offset, 0xff, 0xff, 0xff, 0xff, 7);
	CHECK("0 register, 40 none", DW_CFA_def_cfa_offset, 0x80, 0x80, 0x80, 0x80, 8);
	CHECK("0 register, 40 none", DW_CFA_def_cfa, 0x87, 0x80, 0x80, 0x80, 0x80, 1, 8);
}

Test(unwind_cfi, cfa_expressions)
{
	CHECK("0 [bp-8]+0, 40 none", DW_CFA_def_cfa_expression, 3, DW_OP_breg6, 0x78, DW_OP_deref);
	CHECK("0 [sp+16]+8, 40 none", DW_CFA_def_cfa_expression, 5, DW_OP_breg7, 16, DW_OP_deref,
	      DW_OP_plus_uconst, 8);
	CHECK("0 [bp-8]+32767, 40 none", DW_CFA_def_cfa_expression, 7, DW_OP_breg6, 0x78,
	      DW_OP_deref, DW_OP_plus_uconst, 0xff, 0xff, 1);
	CHECK("0 register, 40 none", DW_CFA_def_cfa_expression, 7, DW_OP_breg6, 0x78, DW_OP_deref,
	      DW_OP_plus_uconst, 0x80, 0x80, 2);
	CHECK("0 register, 40 none", DW_CFA_def_cfa_expression, 0);
	CHECK("0 register, 40 none", DW_CFA_def_cfa_expression, 1, DW_OP_breg6);
	CHECK("0 register, 40 none", DW_CFA_def_cfa_expression, 2, DW_OP_breg6, 8);
	CHECK("0 register, 40 none", DW_CFA_def_cfa_expression, 3, DW_OP_breg10, 8, DW_OP_deref);
	CHECK("0 register, 40 none", DW_CFA_def_cfa_expression, 4, DW_OP_breg6, 8, DW_OP_deref,
	      DW_OP_deref);
	CHECK("0 register, 40 none", DW_CFA_def_cfa_expression, 4, DW_OP_breg6, 8, DW_OP_deref,
	      DW_OP_plus_uconst);
	/* A register replaces it, and then the last offset counts. */
#define ON_STACK DW_CFA_def_cfa_expression, 3, DW_OP_breg6, 0x78, DW_OP_deref
	CHECK("0 sp+8, 40 none", ON_STACK, DW_CFA_def_cfa, 7, 8);
	CHECK("0 [bp-8]+0, 40 none", ON_STACK, DW_CFA_def_cfa_offset, 16);
	CHECK("0 sp+16, 40 none", ON_STACK, DW_CFA_def_cfa_offset, 16, DW_CFA_def_cfa_register, 7);
	CHECK("0 sp+8, 40 none", ON_STACK, DW_CFA_def_cfa_register, 7);
	REFUSE(DW_CFA_def_cfa_expression, 4, DW_OP_breg6, 8, DW_OP_deref);
}

Test(unwind_cfi, plt)
{
#define PLT(at)                                                                                    \
	DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and,    \
		at, DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus
	CHECK("0 plt+8@11, 40 none", PLT(DW_OP_lit11));
	CHECK("0 plt+8@0, 40 none", PLT(DW_OP_lit0));
	CHECK("0 plt+8@15, 40 none", PLT(DW_OP_lit15));
	CHECK("0 register, 40 none", PLT(DW_OP_lit16));
	CHECK("0 register, 40 none", PLT(DW_OP_dup));
	CHECK("0 register, 40 none", DW_CFA_def_cfa_expression, 11, DW_OP_breg6, 8, DW_OP_breg16, 0,
	      DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus);
	CHECK("0 register, 40 none", PLT(DW_OP_lit11), DW_CFA_def_cfa_expression, 10, DW_OP_breg7,
	      8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit3,
	      DW_OP_shl);
	CHECK("0 register, 40 none", DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg16, 0,
	      DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit4, DW_OP_shl, DW_OP_plus);
}

Test(unwind_cfi, frame_pointer)
{
	CHECK("0 sp+8 fp[cfa-16], 40 none", DW_CFA_offset | 6, 2);
	CHECK("0 sp+8 fp[cfa-16], 40 none", DW_CFA_offset_extended, 6, 2);
	CHECK("0 sp+8 fp[cfa+16], 40 none", DW_CFA_offset_extended_sf, 6, 0x7e);
	CHECK("0 sp+8 fp[cfa+16], 40 none", DW_CFA_GNU_negative_offset_extended, 6, 2);
	CHECK("0 sp+8 fp[bp+0], 40 none", DW_CFA_expression, 6, 2, DW_OP_breg6, 0);
	CHECK("0 sp+8 fp?, 40 none", DW_CFA_expression, 6, 2, DW_OP_breg7, 0);
	CHECK("0 sp+8 fp?, 40 none", DW_CFA_expression, 6, 3, DW_OP_breg6, 0, DW_OP_deref);
	CHECK("0 sp+8 fp?, 40 none", DW_CFA_expression, 6, 0);
	CHECK("0 sp+8 fp?, 40 none", DW_CFA_val_expression, 6, 2, DW_OP_breg6, 0);
	CHECK("0 sp+8 fp?, 40 none", DW_CFA_val_offset, 6, 2);
	CHECK("0 sp+8 fp?, 40 none", DW_CFA_val_offset_sf, 6, 0x7e);
	CHECK("0 sp+8 fp?, 40 none", DW_CFA_register, 6, 3);
	CHECK("0 sp+8 fp?, 40 none", DW_CFA_undefined, 6);
	CHECK("0 sp+8, 40 none", DW_CFA_undefined, 6, DW_CFA_same_value, 6);
	CHECK("0 sp+8, 40 none", DW_CFA_offset | 6, 2, DW_CFA_restore | 6);
	CHECK("0 sp+8, 40 none", DW_CFA_offset | 6, 2, DW_CFA_restore_extended, 6);
	CHECK("0 sp+8 fp?, 40 none", DW_CFA_offset_extended, 6, 0x80, 0x80, 0x80, 0x80, 2);
	/* Other registers are read over. */
	CHECK("0 sp+8, 40 none", DW_CFA_offset | 3, 2, DW_CFA_offset_extended, 12, 3,
	      DW_CFA_undefined, 0x80, 1, DW_CFA_expression, 13, 2, DW_OP_breg6, 0,
	      DW_CFA_restore | 3);
}

Test(unwind_cfi, return_address)
{
	CHECK("0 end, 40 none", DW_CFA_undefined, 16);
	CHECK("0 register, 40 none", DW_CFA_offset | 16, 2);
	CHECK("0 register, 40 none", DW_CFA_same_value, 16);
	CHECK("0 register, 40 none", DW_CFA_register, 16, 3);
	CHECK("0 sp+8 ra in di, 40 none", DW_CFA_register, 16, 5);
	CHECK("0 sp+8, 40 none", DW_CFA_undefined, 16, DW_CFA_restore | 16);
	/* Nobody said where it is. */
	eh.size = 0;
	put_cie(&eh, BYTES(DW_CFA_def_cfa, 7, 8));
	put_function(&eh, START, 0x40, NOTHING);
	check_rows("0 register, 40 none");
	/* Nor where the CFA is. */
	eh.size = 0;
	put_cie(&eh, BYTES(DW_CFA_offset | 16, 1));
	put_function(&eh, START, 0x40, NOTHING);
	put_function(&eh, START + 0x40, 0x40, BYTES(DW_CFA_def_cfa_offset, 8));
	check_rows("0 register, 80 none");
}

Test(unwind_cfi, states)
{
	uint8_t nested[2 * 17];

	CHECK("0 sp+8, 1 sp+16 fp[cfa-16], 2 sp+8, 40 none", DW_CFA_remember_state,
	      DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2,
	      DW_CFA_advance_loc | 1, DW_CFA_restore_state);
	REFUSE(DW_CFA_restore_state);
	REFUSE(DW_CFA_remember_state, DW_CFA_restore_state, DW_CFA_restore_state);
	memset(nested, DW_CFA_remember_state, 17);
	check_program("0 sp+8, 40 none", (struct cfi_bytes){ nested, 16 });
	check_malformed((struct cfi_bytes){ nested, 17 });
	memset(nested + 16, DW_CFA_restore_state, 16);
	check_program("0 sp+8, 40 none", (struct cfi_bytes){ nested, 32 });
	/* Nothing is left for the next function. */
	put_function(&eh, START + 0x40, 0x40, BYTES(DW_CFA_remember_state));
	put_function(&eh, START + 0x80, 0x40, BYTES(DW_CFA_restore_state));
	check_rows("0 sp+8, 80 none");
	cr_expect_eq(unwound.malformed, 1);
}

Test(unwind_cfi, malformed)
{
	REFUSE(0x3f);
	REFUSE(0x17);
	REFUSE(DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_advance_loc | 1, 0x3f);
	REFUSE(DW_CFA_def_cfa);
	REFUSE(DW_CFA_def_cfa, 7);
	REFUSE(DW_CFA_def_cfa_offset, 0x80);
	REFUSE(DW_CFA_advance_loc1);
	REFUSE(DW_CFA_advance_loc2, 1);
	REFUSE(DW_CFA_advance_loc4, 1, 0, 0);
	REFUSE(DW_CFA_expression, 6, 2, DW_OP_breg6);
	/* Ten bytes are as many as 64 bits take. */
	CHECK("0 sp+16, 40 none", DW_CFA_def_cfa_offset, 0x90, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
	      0x80, 0x80, 0);
	REFUSE(DW_CFA_def_cfa_offset, 0x90, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
	       0);
}

/* The CIE that begins there, with a function. */
static void check_cie(const char *want, size_t begin, struct cfi_bytes data)
{
	put_factors(&eh);
	put(&eh, data.size, 1);
	put_bytes(&eh, data.bytes, data.size);
	put_bytes(&eh, AT_CALL.bytes, AT_CALL.size);
	end_entry(&eh, begin);
	put_function(&eh, START, 0x40, NOTHING);
	check_rows(want);
	cr_expect_eq(unwound.malformed, *want ? 0 : 1);
	eh.size = 0;
}

Test(unwind_cfi, augmentations)
{
	check_cie("0 sp+8, 40 none", begin_cie(&eh, 1, "zR"), BYTES(PCREL_4));
	check_cie("0 sp+8, 40 none", begin_cie(&eh, 1, "zPLR"),
		  BYTES(DW_EH_PE_pcrel | DW_EH_PE_sdata4 | DW_EH_PE_indirect, 1, 2, 3, 4, PCREL_4,
			PCREL_4));
	check_cie("0 sp+8, 40 none", begin_cie(&eh, 1, "zR"), BYTES(PCREL_4, 1, 2, 3));
	check_cie("0 sp+8, 40 none", begin_cie(&eh, 1, "zRS"), BYTES(PCREL_4));
	check_cie("", begin_cie(&eh, 1, "zXR"), BYTES(PCREL_4, PCREL_4));
	check_cie("", begin_cie(&eh, 1, "R"), BYTES(PCREL_4));
	check_cie("", begin_cie(&eh, 1, "eh"), BYTES(PCREL_4));
	check_cie("", begin_cie(&eh, 1, "zLR"), BYTES(PCREL_4));
	check_cie("", begin_cie(&eh, 1, "zPR"), BYTES(DW_EH_PE_omit, PCREL_4));
	check_cie("", begin_cie(&eh, 1, "zR"), BYTES(PCREL_4 | DW_EH_PE_indirect));
	check_cie("", begin_cie(&eh, 1, "zR"), BYTES(DW_EH_PE_omit));
	check_cie("", begin_cie(&eh, 1, "zR"), BYTES(DW_EH_PE_datarel | DW_EH_PE_sdata4));
}

Test(unwind_cfi, versions)
{
	size_t begin;

	check_cie("0 sp+8, 40 none", begin_cie(&eh, 3, "zR"), BYTES(PCREL_4));
	check_cie("", begin_cie(&eh, 2, "zR"), BYTES(PCREL_4));
	begin = begin_cie(&eh, 4, "zR");
	put(&eh, 0x0008, 2);
	check_cie("0 sp+8, 40 none", begin, BYTES(PCREL_4));
	begin = begin_cie(&eh, 4, "zR");
	put(&eh, 0x0004, 2);
	check_cie("", begin, BYTES(PCREL_4));
	begin = begin_cie(&eh, 4, "zR");
	put(&eh, 0x0108, 2);
	check_cie("", begin, BYTES(PCREL_4));
}

Test(unwind_cfi, encodings)
{
	static const uint8_t good[] = { DW_EH_PE_absptr, DW_EH_PE_udata4,
					DW_EH_PE_sdata4, DW_EH_PE_udata8,
					DW_EH_PE_sdata8, PCREL_4,
					DW_EH_PE_pcrel,	 DW_EH_PE_pcrel | DW_EH_PE_sdata8 };
	size_t i;

	for (i = 0; i < sizeof(good); i++) {
		eh.encoding = good[i];
		CHECK("0 sp+8, 1 sp+16, 40 none", DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset,
		      16);
	}
}

/* A CIE's own instructions cannot say where they hold, nor go back to themselves. */
Test(unwind_cfi, initial_instructions)
{
	static const uint8_t bad[][2] = { { DW_CFA_advance_loc | 1, DW_CFA_nop },
					  { DW_CFA_restore | 6, DW_CFA_nop },
					  { DW_CFA_restore_state, DW_CFA_nop },
					  { DW_CFA_def_cfa, 7 } };
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		eh.size = 0;
		put_cie(&eh, (struct cfi_bytes){ bad[i], 2 });
		put_function(&eh, START, 0x40, NOTHING);
		check_rows("");
		cr_expect_eq(unwound.malformed, 1, "%zu", i);
	}
}

Test(unwind_cfi, lengths_of_64_bits)
{
	eh.wide = debug.wide = true;
	put_cie(&eh, AT_CALL);
	put_function(&eh, START, 0x40, NOTHING);
	put_cie(&debug, AT_CALL);
	put_function(&debug, START + 0x100, 0x40, BYTES(DW_CFA_def_cfa_offset, 16));
	check_rows("0 sp+8, 40 none, 100 sp+16, 140 none");
}

/* A linker ends each part that it puts together with an empty entry. */
Test(unwind_cfi, empty_entries)
{
	put_cie(&eh, AT_CALL);
	put(&eh, 0, 4);
	put_function(&eh, START, 0x40, NOTHING);
	put(&eh, 0, 4);
	check_rows("0 sp+8, 40 none");
	cr_expect_eq(unwound.malformed, 0);
}

/* Functions without a CIE, with one that is none, and with a length beyond the section. */
Test(unwind_cfi, entries_without_sense)
{
	put_cie(&eh, AT_CALL);
	put_function(&eh, START, 0x40, NOTHING);
	eh.cie = 1000000;
	put_function(&eh, START + 0x40, 0x40, NOTHING);
	eh.cie = eh.size;
	put_function(&eh, START + 0x60, 0x40, NOTHING);
	eh.cie = 4;
	put_function(&eh, START + 0x80, 0x40, NOTHING);
	put(&eh, 1000, 4);
	put(&eh, 0, 4);
	check_rows("0 sp+8, 40 none");
	cr_expect_eq(unwound.malformed, 4);
}

/* A function's description whose bytes would make a CIE. */
Test(unwind_cfi, cie_that_is_none)
{
	size_t function;

	put_cie(&debug, AT_CALL);
	function = debug.size;
	/* Version 1, no augmentation, the factors, and instructions that do nothing. */
	put_function(&debug, 0x1078010001, 0, AT_CALL);
	debug.cie = function;
	put_function(&debug, START, 0x40, NOTHING);
	check_rows("");
	cr_expect_eq(unwound.malformed, 1);
}

/* Each file that ends within an entry gives what came before, and never more. */
Test(unwind_cfi, truncated)
{
	size_t whole, first, size;

	put_cie(&eh, AT_CALL);
	put_function(&eh, START, 0x40, NOTHING);
	first = eh.size;
	put_function(&eh, START + 0x40, 0x40, BYTES(DW_CFA_def_cfa_offset, 16));
	whole = eh.size;
	for (size = 0; size <= whole; size++) {
		eh.size = size;
		read_sheets(UINT64_MAX);
		cr_expect_str_eq(rows_text(), size < first ? "" :
					      size < whole ? "0 sp+8, 40 none" :
							     "0 sp+8, 40 sp+16, 80 none");
	}
}
