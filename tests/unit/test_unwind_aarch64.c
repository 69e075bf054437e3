// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Rules for arm64, on any host: call-frame information made by hand, and machine code.
 */
#include <criterion/criterion.h>
#include <dwarf.h>
#include <string.h>

#include "test_unwind_fixture.h"
#include "unwind/cfi.h"

static void begin(void)
{
	unwind_begin();
	cfi_machine = &cfi_aarch64;
}

TestSuite(unwind_aarch64, .init = begin, .fini = unwind_end);

enum { FP = 29, LR = 30, SP = 31 };

#define LEAF BYTES(DW_CFA_def_cfa, SP, 0)
#define FRAME DW_CFA_def_cfa_offset, 32, DW_CFA_offset | FP, 4, DW_CFA_offset | LR, 3

static void put_function_at(uint64_t at, struct cfi_bytes program)
{
	if (!eh.size)
		put_cie(&eh, LEAF);
	put_function(&eh, START + at, 0x10, program);
}

static void check(const char *want, struct cfi_bytes program)
{
	eh.size = 0;
	put_function_at(0, program);
	check_rows(want);
	cr_expect_eq(unwound.malformed, 0);
}

#define CHECK(want, ...) check(want, BYTES(__VA_ARGS__))

Test(unwind_aarch64, places)
{
	check("0 sp+0, 10 none", NOTHING);
	CHECK("0 sp+0, 4 sp+32 fp[cfa-32] ra[cfa-24], c sp+0, 10 none", DW_CFA_advance_loc | 4,
	      FRAME, DW_CFA_advance_loc | 8, DW_CFA_restore | FP, DW_CFA_restore | LR,
	      DW_CFA_def_cfa_offset, 0);
	CHECK("0 bp+32 fp[cfa-32] ra[cfa-24], 10 none", FRAME, DW_CFA_def_cfa_register, FP);
	/* One of the two. */
	CHECK("0 sp+16 ra[cfa-16], 10 none", DW_CFA_def_cfa_offset, 16, DW_CFA_offset | LR, 2);
	CHECK("0 sp+16 fp[cfa-16], 10 none", DW_CFA_def_cfa_offset, 16, DW_CFA_offset | FP, 2);
	CHECK("0 sp+16 fp? ra[cfa-16], 10 none", DW_CFA_def_cfa_offset, 16, DW_CFA_offset | LR, 2,
	      DW_CFA_register, FP, 19);
	/* Far from each other, or the return address first. */
	CHECK("0 register, 10 none", DW_CFA_def_cfa_offset, 48, DW_CFA_offset | FP, 4,
	      DW_CFA_offset | LR, 2);
	CHECK("0 register, 10 none", DW_CFA_def_cfa_offset, 16, DW_CFA_offset | FP, 1,
	      DW_CFA_offset | LR, 2);
	/* In another register, and behind registers whose size is not known. */
	CHECK("0 register, 10 none", DW_CFA_register, LR, 17);
	CHECK("0 sp+0, 10 none", DW_CFA_register, LR, LR);
	CHECK("0 register, 10 none", DW_CFA_def_cfa_expression, 2, DW_OP_breg31, 16);
	CHECK("0 register, 10 none", DW_CFA_def_cfa, 19, 16);
	CHECK("0 register, 10 none", DW_CFA_def_cfa_offset, 0x80, 0x80, 0x80, 0x80, 8);
	CHECK("0 end, 10 none", DW_CFA_undefined, LR);
}

/* Where they are stored does not depend on whether return addresses are signed. */
Test(unwind_aarch64, signed_addresses)
{
	size_t cie;

	CHECK("0 sp+0, 8 sp+32 fp[cfa-32] ra[cfa-24], 10 none", DW_CFA_advance_loc | 4,
	      DW_CFA_AARCH64_negate_ra_state, DW_CFA_advance_loc | 4, FRAME);
	CHECK("0 sp+0, 10 none", DW_CFA_advance_loc | 4, 0x2c, DW_CFA_advance_loc | 4,
	      DW_CFA_AARCH64_negate_ra_state);
	/* By the second key, on a stack with tags. */
	eh.size = 0;
	cie = begin_cie(&eh, 1, "zRBG");
	put_factors(&eh);
	put(&eh, 1, 1);
	put(&eh, eh.encoding, 1);
	put_bytes(&eh, LEAF.bytes, LEAF.size);
	end_entry(&eh, cie);
	put_function_at(0, BYTES(FRAME));
	check_rows("0 sp+32 fp[cfa-32] ra[cfa-24], 10 none");
}

/* makecontext() has a coroutine return to glibc's __startcontext(). */
Test(unwind_aarch64, first_function_of_a_stack)
{
	static const uint32_t start[] = { 0xd503201f, 0xaa1303e0, 0xb5fff9c0 }, other = 0xaa0103e0;
	static const uint32_t bti[] = { 0xd503245f, 0xaa1303e0, 0xb5fff9c0 };

	put_function_at(0, NOTHING);
	put_text(0, (struct cfi_bytes){ start, sizeof(start) });
	check_rows("0 end, 10 none");
	put_text(0, (struct cfi_bytes){ &start[1], 8 });
	check_rows("0 end, 10 none");
	put_text(0, (struct cfi_bytes){ bti, sizeof(bti) });
	check_rows("0 end, 10 none");
	put_text(0, (struct cfi_bytes){ &bti[0], 4 });
	put_text(4, (struct cfi_bytes){ &other, 4 });
	check_rows("0 sp+0, 10 none");
	put_text(0, (struct cfi_bytes){ &other, 4 });
	check_rows("0 sp+0, 10 none");
}

/* Where handlers of signals return to, as the kernel describes it: from a nop on. */
Test(unwind_aarch64, sigreturn)
{
	static const uint32_t code[] = { 0xd503201f, 0xd2801168, 0xd4000001, 0xd4000001 };

	put_function_at(0, NOTHING);
	put_text(0, (struct cfi_bytes){ code, sizeof(code) });
	check_rows("0 signal, 10 none");
	put_text(0, (struct cfi_bytes){ &code[1], 8 });
	check_rows("0 signal, 10 none");
	put_text(4, (struct cfi_bytes){ code, 4 });
	check_rows("0 sp+0, 10 none");
}

/* nop, brk #1000 and zeros are padding; a signal's return, which has no description, has no rule. */
Test(unwind_aarch64, gaps)
{
	static const uint32_t padding[] = { 0xd503201f, 0xd4207d00, 0, 0x1234 };
	static const uint32_t sigreturn[] = { 0xd503201f, 0xd2801168, 0xd4000001, 0 };

	put_function_at(0, NOTHING);
	put_function_at(0x20, NOTHING);
	put_text(0x10, (struct cfi_bytes){ padding, sizeof(padding) });
	check_rows("0 sp+0, 30 none");
	put_text(0x10, (struct cfi_bytes){ sigreturn, sizeof(sigreturn) });
	check_rows("0 sp+0, 10 none, 20 sp+0, 30 none");
}

/* With the stack pointer or the return address elsewhere, even for a moment, it is none. */
Test(unwind_aarch64, leaves)
{
	static const uint32_t leaf[] = {
		0x540005e8, /* b.hi */
		0x8b2563e5, /* add x5, sp, x5 */
		0xf94000bf, /* ldr xzr, [x5] */
		0xa900003f, /* stp xzr, x0, [x1] */
		0xf8408420, /* ldr x0, [x1], #8 */
		0x9101e3f3, /* add x19, sp, #120 */
		0xf1000c5f, /* cmp x2, #3 */
		0x17ffffd0, /* b */
		0xd4000001, /* svc #0 */
		0xd65f03c0, /* ret */
	};
	static const uint32_t others[] = {
		0xa9b87bfd, /* stp x29, x30, [sp, #-128]! */
		0xa8c87bfd, /* ldp x29, x30, [sp], #128 */
		0xf81f0ffe, /* str x30, [sp, #-16]! */
		0xd10043ff, /* sub sp, sp, #16 */
		0xcb2c63ff, /* sub sp, sp, x12 */
		0x910003bf, /* mov sp, x29 */
		0x940000a2, /* bl */
		0xd63f0020, /* blr x1 */
		0xd73f0822, /* blraa x1, x2 */
	};
	uint32_t code[2] = { leaf[0] };
	size_t i;

	cr_expect(cfi_machine->is_leaf((const unsigned char *)leaf, sizeof(leaf)));
	for (i = 0; i < sizeof(others) / sizeof(*others); i++) {
		code[1] = others[i];
		cr_expect_not(cfi_machine->is_leaf((const unsigned char *)code, sizeof(code)),
			      "%#x", others[i]);
	}
}

/* Frame pointers lead on from Go's functions; goexit() is where its stacks begin. */
Test(unwind_aarch64, go)
{
	static const uint32_t goexit[] = { 0xaa0003e0, 0x94000003 };

	go = (struct unwind_go){ CFI_FILE_TEXT, 0x300 };
	put_cie(&debug, LEAF);
	put_function(&debug, START, 0x10,
		     BYTES(DW_CFA_advance_loc | 4, DW_CFA_def_cfa_offset, 32, DW_CFA_offset | LR,
			   4));
	put_function(&debug, START + 0x100, 0x10, NOTHING);
	put_text(0x100, (struct cfi_bytes){ goexit, sizeof(goexit) });
	check_rows("0 sp+0 frameless, 4 sp+32 ra[cfa-32] go, 10 none, 100 end, 110 none");
}
