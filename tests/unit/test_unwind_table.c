// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * From functions to a table: order, gaps, what is described twice, and limits.
 */
#include "unwind/unwind_table.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test_symbol_fixture.h"
#include "test_unwind_fixture.h"
#include "unwind/cfi.h"

TestSuite(unwind_table, .init = unwind_begin, .fini = unwind_end);

#define SP(n) BYTES(DW_CFA_def_cfa_offset, n)

static void put_eh(uint64_t at, uint64_t size, struct cfi_bytes program)
{
	if (!eh.size)
		put_cie(&eh, AT_CALL);
	put_function(&eh, START + at, size, program);
}

static void put_debug(uint64_t at, uint64_t size, struct cfi_bytes program)
{
	if (!debug.size)
		put_cie(&debug, AT_CALL);
	put_function(&debug, START + at, size, program);
}

Test(unwind_table, nothing)
{
	check_rows("");
	cr_expect_eq(unwind_find(&unwound, 0)->cfa, UNWIND_NONE);
	cr_expect_eq(unwind_find(&unwound, UINT64_MAX)->cfa, UNWIND_NONE);
}

Test(unwind_table, order)
{
	put_eh(0x300, 0x10, SP(24));
	put_eh(0x100, 0x10, SP(8));
	put_eh(0x200, 0x10, SP(16));
	check_rows("100 sp+8, 110 none, 200 sp+16, 210 none, 300 sp+24, 310 none");
	cr_expect_eq(unwound.functions, 3);
	cr_expect_eq(unwound.rule_count, 4);
}

/* A table that does not begin with a granule says so for the bytes before. */
Test(unwind_table, first_granule)
{
	put_eh(0x1234, 0x1000, SP(8));
	check_rows("1200 none, 1234 sp+8, 2234 none");
	cr_expect_eq(unwind_find(&unwound, CFI_FILE_TEXT + 0x11ff)->cfa, UNWIND_NONE);
	cr_expect_eq(unwind_find(&unwound, CFI_FILE_TEXT + 0x1233)->cfa, UNWIND_NONE);
	cr_expect_eq(unwind_find(&unwound, CFI_FILE_TEXT + 0x1234)->cfa, UNWIND_SP);
	cr_expect_eq(unwind_find(&unwound, CFI_FILE_TEXT + 0x1fff)->cfa, UNWIND_SP);
	cr_expect_eq(unwind_find(&unwound, CFI_FILE_TEXT + 0x2233)->cfa, UNWIND_SP);
	cr_expect_eq(unwind_find(&unwound, CFI_FILE_TEXT + 0x2234)->cfa, UNWIND_NONE);
	cr_expect_eq(unwind_find(&unwound, CFI_FILE_TEXT + 0x2300)->cfa, UNWIND_NONE);
}

/*
 * Padding belongs to the function before it, but for its last byte if the next one begins with another rule.
 * A larger gap has no rule.
 */
Test(unwind_table, padding)
{
	put_eh(0, 0x30, SP(8));
	put_eh(0x50, 0x10, SP(16));
	check_rows("0 sp+8, 4f early sp+16, 60 none");
	put_eh(0x70, 0x10, SP(16));
	put_eh(0xa0, 0x10, SP(8));
	check_rows("0 sp+8, 4f early sp+16, 9f early sp+8, b0 none");
	put_eh(0xf1, 0x10, SP(24));
	check_rows("0 sp+8, 4f early sp+16, 9f early sp+8, b0 none, f1 sp+24, 101 none");
	/* Functions without padding, and padding whose last byte ends a granule. */
	put_eh(0x101, 0xf, SP(32));
	put_eh(0x200, 0x10, SP(40));
	put_eh(0x1c0, 0x30, SP(48));
	check_rows("0 sp+8, 4f early sp+16, 9f early sp+8, b0 none, f1 sp+24, 101 sp+32, 110 none, "
		   "1c0 sp+48, 1ff early sp+40, 210 none");
}

/* What compilers and linkers align with. */
Test(unwind_table, nops)
{
	static const struct cfi_bytes fillings[] = {
		{ "\x90", 1 },
		{ "\x66\x90", 2 },
		{ "\x0f\x1f\x00", 3 },
		{ "\x0f\x1f\x40\x00", 4 },
		{ "\x0f\x1f\x44\x00\x00", 5 },
		{ "\x66\x0f\x1f\x44\x00\x00", 6 },
		{ "\x0f\x1f\x80\x00\x00\x00\x00", 7 },
		{ "\x0f\x1f\x84\x00\x00\x00\x00\x00", 8 },
		{ "\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", 10 },
		{ "\x66\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00\x0f\x1f\x00\xcc", 15 },
		{ "\x0f\x1f\x05\x00\x00\x00\x00", 7 },
		{ "\x0f\x1f\x04\x25\x00\x00\x00\x00", 8 },
		{ "\xcc\xcc\xcc", 3 },
	};
	size_t i;

	for (i = 0; i < sizeof(fillings) / sizeof(fillings[0]); i++)
		cr_expect_eq(cfi_machine->gap(fillings[i].bytes, fillings[i].size), CFI_GAP_PADDING,
			     "%zu", i);
	/* One that the next function begins in is no nop. */
	for (i = 1; i < 10; i++)
		cr_expect_eq(cfi_machine->gap(fillings[8].bytes, i), CFI_GAP_CODE, "%zu", i);
}

/* Code that nobody described. */
Test(unwind_table, code_in_a_gap)
{
	/* push %rax; call ...; pop %rax; ret */
	const struct cfi_bytes calls = { "\x50\xe8\x00\x00\x00\x00\x58\xc3", 8 };
	/* syscall; test %rax, %rax; jl ...; je ...; ret */
	const struct cfi_bytes clone = { "\x0f\x05\x48\x85\xc0\x7c\x13\x74\x01\xc3", 10 };

	put_eh(0, 0x10, SP(8));
	put_eh(0x20, 0x10, SP(8));
	put_eh(0x40, 0x10, SP(24));
	put_text(0x10, calls);
	put_text(0x38, calls);
	check_rows("0 sp+8, 10 none, 20 sp+8, 30 none, 40 sp+24, 50 none");
	/* The stack stays as it is, so the rule before holds until the next function begins. */
	put_eh(0x5a, 0x10, SP(8));
	put_text(0x50, clone);
	check_rows("0 sp+8, 10 none, 20 sp+8, 30 none, 40 sp+24, 5a sp+8, 6a none");
	put_text(0x59, (struct cfi_bytes){ "\x50", 1 });
	check_rows("0 sp+8, 10 none, 20 sp+8, 30 none, 40 sp+24, 50 none, 5a sp+8, 6a none");
}

/* Its code, and not its description, says that nothing calls it. */
Test(unwind_table, first_function_of_a_stack)
{
	put_eh(0, 0x10, SP(8));
	put_eh(0x20, 0x10, SP(8));
	put_text(0x20, (struct cfi_bytes){ "\x48\x89\xdc", 3 }); /* mov %rbx, %rsp */
	put_eh(0x40, 0x10, SP(8));
	put_text(0x40, (struct cfi_bytes){ "\x48\x89\xe3", 3 }); /* mov %rsp, %rbx */
	check_rows("0 sp+8, 1f early end, 3f early sp+8, 50 none");
	/* The same after endbr64. */
	put_text(0x20, (struct cfi_bytes){ "\xf3\x0f\x1e\xfa\x48\x89\xdc", 7 });
	put_text(0x40, (struct cfi_bytes){ "\xf3\x0f\x1e\xfa\x48\x89\xe3", 7 });
	check_rows("0 sp+8, 1f early end, 3f early sp+8, 50 none");
}

/* Where handlers of signals return to: its description begins at the code, or a byte before it. */
Test(unwind_table, sigreturn)
{
	const struct cfi_bytes wide = { "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05", 9 };
	const struct cfi_bytes narrow = { "\xb8\x0f\x00\x00\x00\x0f\x05", 7 };
	const struct cfi_bytes exit = { "\xb8\x3c\x00\x00\x00\x0f\x05", 7 };

	put_eh(0, 0x10, NOTHING);
	put_text(0, narrow);
	put_eh(0x100, 0x10, NOTHING);
	put_text(0x101, wide);
	put_eh(0x200, 0x10, NOTHING);
	put_text(0x202, narrow);
	put_eh(0x300, 0x10, NOTHING);
	put_text(0x300, exit);
	check_rows("0 signal, 10 none, 100 signal, 110 none, 200 sp+8, 210 none, 300 sp+8, "
		   "310 none");
}

/* Frame pointers lead on from Go's functions, but .eh_frame describes C's. */
Test(unwind_table, go)
{
	const struct cfi_bytes sigreturn = { "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05", 9 };
	const struct cfi_bytes goexit = { "\x90\xe8\x00\x00\x00\x00\x90", 7 };

	go = (struct unwind_go){ CFI_FILE_TEXT, 0x300 };
	put_debug(0, 0x20, BYTES(DW_CFA_advance_loc | 8, DW_CFA_def_cfa_offset, 32));
	put_debug(0x100, 0x10, NOTHING);
	put_text(0x100, sigreturn);
	put_debug(0x200, 0x10, NOTHING);
	put_text(0x200, goexit);
	put_eh(0x280, 0x10, SP(24));
	put_debug(0x300, 0x10, SP(24));
	put_eh(0x400, 0x10, SP(40));
	check_rows(
		"0 sp+8 frameless, 8 sp+32 go, 20 none, 100 signal, 110 none, 200 end, 210 none, "
		"280 sp+24, 290 none, 300 sp+24, 310 none, 400 sp+40, 410 none");
}

Test(unwind_table, overlaps)
{
	put_eh(0, 0x40, BYTES(DW_CFA_advance_loc | 0x20, DW_CFA_def_cfa_offset, 16));
	put_eh(0x10, 0x10, SP(32));
	check_rows("0 sp+8, 10 sp+32, 20 none");
	/* Of one place the first is taken, whatever comes between. */
	put_eh(0x10, 0x40, SP(48));
	put_eh(0, 0x8, SP(48));
	check_rows("0 sp+8, 10 sp+32, 20 none");
	cr_expect_eq(unwound.repeated, 2);
	cr_expect_eq(unwound.functions, 2);
}

Test(unwind_table, many_of_one_place)
{
	unsigned int i;

	for (i = 0; i < 1000; i++)
		put_eh(0x10 * (i % 10), 0x10, SP(i < 10 ? 8 : 16));
	check_rows("0 sp+8, a0 none");
	cr_expect_eq(unwound.repeated, 990);
}

/* What .eh_frame has is not taken from .debug_frame, unless it is malformed there. */
Test(unwind_table, both_sections)
{
	put_debug(0, 0x40, SP(16));
	put_debug(0x100, 0x40, SP(24));
	put_debug(0x210, 0x10, SP(32));
	put_debug(0x340, 0x40, SP(40));
	put_eh(0, 0x40, SP(8));
	put_eh(0x200, 0x40, SP(8));
	put_eh(0x300, 0x40, SP(8));
	check_rows("0 sp+8, 40 none, 100 sp+24, 140 none, 200 sp+8, 240 none, 300 sp+8, 340 sp+40, "
		   "380 none");
	cr_expect_eq(unwound.repeated, 2);
	put_eh(0x100, 0x40, BYTES(0x3f));
	check_rows("0 sp+8, 40 none, 100 sp+24, 140 none, 200 sp+8, 240 none, 300 sp+8, 340 sp+40, "
		   "380 none");
	cr_expect_eq(unwound.malformed, 1);
}

Test(unwind_table, outside)
{
	eh.encoding = debug.encoding = DW_EH_PE_absptr;
	put_eh(0, 0x10, SP(8));
	put_eh((uint64_t)-START, 0x10, SP(8)); /* removed by the linker */
	put_eh((uint64_t)-START + 1, 0x10, SP(8));
	put_eh((uint64_t)-1, 0x10, SP(8));
	put_eh(CFI_FILE_TEXT_SIZE - 0x10, 0x11, SP(8));
	put_eh(CFI_FILE_TEXT_SIZE, 1, SP(8));
	put_eh(0x100, 0, SP(8));
	put_eh(0x200, UINT64_MAX, SP(8));
	put_eh(0x300, 1ULL << 32, SP(8));
	put_eh(0x400, UINT64_MAX - START - 0x400 + 2, SP(8));
	put_eh(CFI_FILE_TEXT_SIZE - 0x10, 0x10, SP(8));
	check_rows("0 sp+8, 10 none, 7ffff0 sp+8, 800000 none");
	cr_expect_eq(unwound.outside, 9);
	cr_expect_eq(unwound.malformed, 0);
}

/* --- limits ----------------------------------------------------------------------------------- */

Test(unwind_table, bytes)
{
	size_t cie, first;

	put_eh(0, 0x10, SP(8));
	cie = eh.bytes[0] + 4; /* it counts where it stands, and where it is read for a function */
	first = eh.size;
	put_eh(0x20, 0x10, SP(16));
	read_sheets(cie + eh.size);
	cr_expect_str_eq(rows_text(), "0 sp+8, 1f early sp+16, 30 none");
	cr_expect_not(unwound.cut);
	/* What was read until then is there. */
	read_sheets(cie + eh.size - 1);
	cr_expect_str_eq(rows_text(), "0 sp+8, 10 none");
	cr_expect(unwound.cut);
	read_sheets(cie + first - 1);
	cr_expect_str_eq(rows_text(), "");
	cr_expect(unwound.cut);
	put_eh(0x10, 0x10, SP(32));
	read_sheets(cie + eh.size - 1);
	cr_expect_str_eq(rows_text(), "0 sp+8, 1f early sp+16, 30 none");
}

/*
 * Two CIEs that share a slot are read again for each function. Their bytes count each time, or a file
 * of some MiB would take hours.
 */
Test(unwind_table, common_entries_count_again)
{
	uint8_t nops[1 << 14] = { 0 };
	struct cfi_bytes program = { nops, sizeof(nops) };
	size_t cies[2], i;

	for (i = 0; i < 2; i++) {
		put_cie(&eh, program);
		cies[i] = eh.cie;
	}
	cr_assert_neq(cies[0], cies[1]);
	while ((cies[1] - cies[0]) % 1024) {
		put(&eh, 0, 4);
		put_cie(&eh, program);
		cies[1] = eh.cie;
	}
	for (i = 0; i < 1000; i++) {
		eh.cie = cies[i % 2];
		put_function(&eh, START + 0x10 * i, 0x10, NOTHING);
	}
	read_sheets(2 * eh.size);
	cr_expect(unwound.cut);
	cr_expect_lt(unwound.functions, 500);
	read_sheets(UINT64_MAX);
	cr_expect_not(unwound.cut);
	cr_expect_eq(unwound.functions, 1000);
}

/* Rows beyond the limit of rules have none, and the others keep theirs. */
Test(unwind_table, rules)
{
	const struct unwind_rule *rule;
	uint8_t *program = malloc(4UL * 40000);
	size_t i;

	for (i = 0; i < 40000; i++) {
		program[4 * i] = DW_CFA_def_cfa_offset;
		program[4 * i + 1] = (uint8_t)(0x80 | (i & 0x7f));
		program[4 * i + 2] = (uint8_t)((0x100 | i >> 7) & 0x7f) | 0x80;
		program[4 * i + 3] = (uint8_t)(i >> 14);
	}
	put_cie(&eh, AT_CALL);
	for (i = 0; i < 40000; i++)
		put_function(&eh, START + i, 1, (struct cfi_bytes){ program + 4 * i, 4 });
	read_sheets(UINT64_MAX);
	cr_expect(unwound.cut);
	cr_expect_leq(unwound.rule_count, UNWIND_RULES_MAX);
	cr_expect_gt(unwound.rule_count, UNWIND_RULES_MAX / 2);
	for (i = 0; i < 40000; i++) {
		rule = unwind_find(&unwound, CFI_FILE_TEXT + i);
		if (i < UNWIND_RULES_MAX / 4)
			cr_expect_eq(rule->cfa, UNWIND_SP);
		if (rule->cfa)
			cr_expect_eq(rule->cfa_offset, i);
	}
	free(program);
}

/* A row for each byte of text, more than are taken. */
Test(unwind_table, rows)
{
	static const uint8_t step[] = { DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 8 };
	uint8_t *program = malloc(sizeof(step) * UNWIND_ROWS_MAX);
	size_t i;

	for (i = 0; i < UNWIND_ROWS_MAX; i++) {
		memcpy(program + sizeof(step) * i, step, sizeof(step));
		program[sizeof(step) * i + 2] = (uint8_t)(8 + i % 2 * 8);
	}
	put_eh(0, 0x10, SP(8));
	put_eh(0x100, UNWIND_ROWS_MAX,
	       (struct cfi_bytes){ program, sizeof(step) * UNWIND_ROWS_MAX });
	put_eh(CFI_FILE_TEXT_SIZE - 0x10, 0x10, SP(8));
	check_rows("0 sp+8, 10 none");
	cr_expect(unwound.cut);
	eh.size = 0;
	put_eh(0, 0x10, SP(8));
	put_eh(0x100, UNWIND_ROWS_MAX / 2, (struct cfi_bytes){ program, UNWIND_ROWS_MAX });
	read_sheets(UINT64_MAX);
	cr_expect_not(unwound.cut);
	cr_expect_gt(unwound.row_count, UNWIND_ROWS_MAX / 4);
	free(program);
}

/* --- files ------------------------------------------------------------------------------------ */

static int read_changed(void (*change)(Elf64_Ehdr *elf, Elf64_Phdr *text), struct error *err)
{
	struct elf_image image;
	size_t size;
	uint8_t *file;
	Elf64_Ehdr *elf;
	int ret;

	put_eh(0, 0x10, SP(8));
	file = cfi_file((struct cfi_bytes){ eh.bytes, eh.size }, NOTHING, &size);
	elf = (Elf64_Ehdr *)file;
	change(elf, (Elf64_Phdr *)(file + elf->e_phoff));
	cr_assert_eq(elf_image_open_memory(file, size, &image, err), 0, "%s", err->text);
	ret = unwind_table_read(&image, UINT64_MAX, &go, &unwound, err);
	elf_image_close(&image);
	free(file);
	return ret;
}

static void make_arm64(Elf64_Ehdr *elf, Elf64_Phdr *text)
{
	(void)text;
	elf->e_machine = EM_AARCH64;
}

Test(unwind_table, other_processors)
{
	struct error err = { 0 };

	cr_assert_eq(read_changed(make_arm64, &err), -ENOTSUP);
	cr_expect_str_eq(err.text, "call-frame information: not of this processor");
}

/* Each is asked for each function: two million functions of a thousand segments took 3 s. */
Test(unwind_table, many_segments)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct elf_image image;
	struct error err;

	cr_assert_eq(elf_image_open(fd, &image, &err), 0, "%s", err.text);
	image.nr_text = UNWIND_SEGMENTS_MAX + 1;
	cr_expect_eq(unwind_table_read(&image, UINT64_MAX, &go, &unwound, &err), -ENOTSUP);
	elf_image_close(&image);
	close(fd);
}

static void move_far(Elf64_Ehdr *elf, Elf64_Phdr *text)
{
	(void)elf;
	text->p_offset = 1ULL << 31;
}

static void move_to_the_end(Elf64_Ehdr *elf, Elf64_Phdr *text)
{
	(void)elf;
	text->p_offset = UINT64_MAX - 7;
}

static void move_to_0(Elf64_Ehdr *elf, Elf64_Phdr *text)
{
	(void)elf;
	text->p_vaddr = 0;
}

/* There may be text at address 0, where the linker leaves what it removed. */
Test(unwind_table, removed)
{
	struct error err = { 0 };

	eh.encoding = DW_EH_PE_absptr;
	put_eh((uint64_t)-START, 0x10, SP(16));
	put_eh((uint64_t)-START + 0x80, 0x10, SP(24));
	cr_assert_eq(read_changed(move_to_0, &err), 0);
	cr_expect_str_eq(rows_text(), "0 none, 80 sp+24, 90 none, 401000 sp+8, 401010 none");
	cr_expect_eq(unwound.outside, 1);
}

/* The index would take more memory than the file has bytes. */
Test(unwind_table, far_text)
{
	struct error err = { 0 };

	cr_assert_eq(read_changed(move_far, &err), 0);
	cr_expect_eq(unwound.outside, 1);
	cr_expect_eq(unwound.row_count, 0);
	cr_assert_eq(read_changed(move_to_the_end, &err), 0);
	cr_expect_eq(unwound.outside, 2);
	cr_expect_eq(unwound.row_count, 0);
}

/* For files that are this host's own. */
static void use_host_machine(void)
{
#ifdef __aarch64__
	cfi_machine = &cfi_aarch64;
#endif
}

static uint8_t *read_libc(size_t *size, struct cfi_bytes *frames)
{
	struct elf_image image;
	GElf_Shdr header;
	Dl_info libc;
	FILE *stream;
	uint8_t *bytes;

	cr_assert(dladdr((const void *)qsort, &libc));
	stream = fopen(libc.dli_fname, "r");
	cr_assert(stream);
	fseek(stream, 0, SEEK_END);
	*size = (size_t)ftell(stream);
	rewind(stream);
	bytes = malloc(*size);
	cr_assert_eq(fread(bytes, 1, *size, stream), *size);
	fclose(stream);
	cr_assert_eq(elf_image_open_memory(bytes, *size, &image, NULL), 0);
	cr_assert(elf_image_section(&image, ".eh_frame", &header));
	*frames = (struct cfi_bytes){ bytes + header.sh_offset, header.sh_size };
	elf_image_close(&image);
	return bytes;
}

/* Whatever stands in libc's .eh_frame, there is a table, and it holds together. */
Test(unwind_table, mutated, .timeout = 60)
{
	struct cfi_bytes frames;
	struct elf_image image;
	size_t size, i, k, malformed = 0;
	uint8_t *bytes = read_libc(&size, &frames),
		*there = bytes + ((uint8_t *)frames.bytes - bytes);
	uint8_t *original = malloc(frames.size);

	use_host_machine();
	memcpy(original, frames.bytes, frames.size);
	srandom(1);
	for (i = 0; i < 200; i++) {
		memcpy(there, original, frames.size);
		for (k = 0; k < 1 + i; k++)
			there[(size_t)random() % frames.size] = (uint8_t)random();
		cr_assert_eq(elf_image_open_memory(bytes, size, &image, NULL), 0);
		cr_assert_eq(unwind_table_read(&image, UINT64_MAX, &go, &unwound, NULL), 0);
		unwind_check(&unwound);
		malformed += unwound.malformed;
		unwind_table_free(&unwound);
		elf_image_close(&image);
	}
	cr_expect_gt(malformed, 200);
	free(original);
	free(bytes);
}

/* Reads the table of an open file; returns where its packed section begins. */
static uint64_t read_packed(const char *name)
{
	int fd = fixture_open(name);
	struct elf_image image;
	struct error err = { 0 };
	GElf_Shdr header;

	unwind_table_free(&unwound);
	cr_assert_eq(elf_image_open(fd, &image, &err), 0, "%s", err.text);
	cr_assert(elf_image_section(&image, ".debug_frame", &header));
	cr_assert(header.sh_flags & SHF_COMPRESSED);
	cr_assert_eq(unwind_table_read(&image, UINT64_MAX, &go, &unwound, &err), 0, "%s", err.text);
	unwind_check(&unwound);
	elf_image_close(&image);
	close(fd);
	return header.sh_offset;
}

static void write_changed(char *bytes, size_t size, uint64_t at, uint64_t value)
{
	FILE *stream = fopen(fixture_path("changed"), "w");

	memcpy(bytes + at, &value, sizeof(value));
	cr_assert_eq(fwrite(bytes, 1, size, stream), size);
	fclose(stream);
}

/* A section that claims to unpack to exabytes, and one that cannot be unpacked. */
Test(unwind_table, packed)
{
	uint64_t at;
	size_t size;
	char *bytes;

	use_host_machine();
	fixture_begin();
	fixture_shell("for i in $(seq 100); do echo \"int f$i(int x) { return x * $i; }\"; done "
		      ">program.c");
	fixture_shell("gcc -g -gz=zlib -fno-asynchronous-unwind-tables -fno-unwind-tables -shared "
		      "-nostdlib -o packed program.c");
	at = read_packed("packed");
	cr_expect_gt(unwound.row_count, 0);
	cr_expect_eq(unwound.malformed, 0);
	bytes = fixture_read("packed", &size);
	write_changed(bytes, size, at + sizeof(Elf64_Chdr), UINT64_MAX);
	read_packed("changed");
	cr_expect_eq(unwound.malformed, 1);
	cr_expect_eq(unwound.row_count, 0);
	write_changed(bytes, size, at + offsetof(Elf64_Chdr, ch_size), 1ULL << 60);
	read_packed("changed");
	cr_expect_eq(unwound.malformed, 1);
	free(bytes);
	fixture_end();
}
