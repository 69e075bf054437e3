// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/code.h"

#include <criterion/criterion.h>

#include "base/util.h"
#include "reader/reader.h"
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lists the places of the instructions, with a bar before each block. */
static void check(uint16_t machine, const char *bytes, size_t size, const char *want)
{
	struct code code = { (uint8_t *)(uintptr_t)bytes, size, machine };
	cleanup_free struct block_instruction *all = NULL;
	cleanup_free struct instruction *instructions = NULL;
	struct error err = { 0 };
	char got[256] = "";
	size_t nr, i, length = 0;

	cr_assert_eq(reader_instructions(&code, 0x1000, DISASM_ATT, &instructions, &nr, &err), 0,
		     "%s", err.text);
	all = blocks_find(instructions, nr, size, 0x1000);
	for (i = 0; i < nr; i++)
		length += (size_t)snprintf(got + length, sizeof(got) - length, "%s%u",
					   all[i].first ? "|" : " ", all[i].at);
	cr_expect_str_eq(got, want);
}

#define CHECK(machine, bytes, want) check(machine, bytes, sizeof(bytes) - 1, want)

Test(blocks, x86_64)
{
	/* 0 test, 2 je 8, 4 call, 9 nop, 10 jmp 4, 12 ret, 13 nop: a call does not end a block. */
	CHECK(EM_X86_64, "\x85\xc0\x74\x04\xe8\0\0\0\0\x90\xeb\xf8\xc3\x90", "|0 2|4 9 10|12|13");
	/* 0 nop, 1 loop 1, 3 jmp *rax, 5 nop */
	CHECK(EM_X86_64, "\x90\xe2\xfe\xff\xe0\x90", "|0|1|3|5");
	/* Jumps out of the code, in both directions, and into the middle of an instruction. */
	CHECK(EM_X86_64, "\x75\x7f\x74\x80\x75\xfd\x90", "|0|2|4|6");
	CHECK(EM_X86_64, "\x90", "|0");
	CHECK(EM_X86_64, "", "");
}

Test(blocks, arm64)
{
	/* 0 cbz 12, 4 bl, 8 b 4, 12 ret, 16 nop */
	CHECK(EM_AARCH64, "\x60\0\0\xb4\0\0\0\x94\xff\xff\xff\x17\xc0\x03\x5f\xd6\x1f\x20\x03\xd5",
	      "|0|4 8|12|16");
}

Test(blocks, other_processors)
{
	struct code code = { (uint8_t[]){ 0 }, 1, EM_S390 };
	struct instruction *all;
	struct error err;
	size_t nr;

	cr_assert_eq(reader_instructions(&code, 0, DISASM_ATT, &all, &nr, &err), -ENOTSUP);
}
