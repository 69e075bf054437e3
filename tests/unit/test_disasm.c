// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/disasm.h"

#include <criterion/criterion.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbol/code.h"
#include "symbol/symbol.h"
#include "test_symbol_fixture.h"

struct want {
	const char *bytes; /* hexadecimal */
	const char *text;
	uint32_t size;
	bool is_jump;
	uint64_t target; /* 0: none; all instructions begin at 0x1000 */
};

static size_t from_hex(const char *hex, uint8_t *bytes)
{
	size_t nr;

	for (nr = 0; hex[2 * nr]; nr++)
		bytes[nr] = (uint8_t)strtoul((char[]){ hex[2 * nr], hex[2 * nr + 1], 0 }, NULL, 16);
	return nr;
}

static void check(uint16_t machine, enum disasm_syntax syntax, const struct want *want)
{
	struct instruction got;
	struct disasm *disasm;
	struct error err;
	uint8_t bytes[16];
	size_t size;

	cr_assert_eq(disasm_open(machine, syntax, &disasm, &err), 0, "%s", err.text);
	for (; want->bytes; want++) {
		size = from_hex(want->bytes, bytes);
		disasm_next(disasm, bytes, size, 0x1000, &got);
		cr_expect_str_eq(got.text, want->text);
		cr_expect_eq(got.size, want->size, "%s: %u bytes", want->text, got.size);
		cr_expect_eq(got.is_jump, want->is_jump, "%s", want->text);
		cr_expect_eq(got.has_target, want->target != 0, "%s", want->text);
		if (want->target)
			cr_expect_eq(got.target, want->target, "%s", want->text);
	}
	disasm_close(disasm);
}

Test(disasm, x86_64)
{
	check(EM_X86_64, DISASM_ATT,
	      (const struct want[]){ { "f30f1efa", "endbr64", 4, false, 0 },
				     { "7510", "jne 0x1012", 2, true, 0x1012 },
				     { "75fe", "jne 0x1000", 2, true, 0x1000 },
				     { "e801020000", "callq 0x1206", 5, false, 0x1206 },
				     { "ff2501020300", "jmpq *0x30201(%rip)", 6, true, 0 },
				     { "ffe2", "jmpq *%rdx", 2, true, 0 },
				     { "e210", "loop 0x1012", 2, true, 0x1012 },
				     { "c3", "retq", 1, false, 0 },
				     { "4889d8c3", "movq %rbx, %rax", 3, false, 0 },
				     { "06", ".byte 0x06", 1, false, 0 },
				     { "e801", ".byte 0xe8", 1, false, 0 },
				     { 0 } });
	check(EM_X86_64, DISASM_INTEL,
	      (const struct want[]){ { "4889d8", "mov rax, rbx", 3, false, 0 }, { 0 } });
	check(EM_386, DISASM_ATT,
	      (const struct want[]){ { "40", "incl %eax", 1, false, 0 }, { 0 } });
}

/* What capstone does not know of AVX-512 and later is one row, as long as the instruction is. */
Test(disasm, unknown_vectors)
{
	static const char *const unknown[] = {
		"62f375483e0802", /* vpcmpleub (%rax),%zmm1,%k1 */
		"62f375483ec802", /* vpcmpleub %zmm0,%zmm1,%k1 */
		"c4e1fb93c0", /* kmovq %k0,%rax */
		"c4e3f930c804", /* kshiftrw $0x4,%k0,%k1 */
		"62f36d4825d9ff", /* vpternlogd $0xff,%zmm1,%zmm2,%zmm3 */
		"62f2ed487dd9", /* vpermt2w %zmm1,%zmm2,%zmm3 */
		"62f27e48305cb140", /* vpmovwb %zmm3,0x800(%rcx,%rsi,4) */
		"62f56c4858d9", /* vaddph %zmm1,%zmm2,%zmm3 */
		"62f2fd4855c8", /* vpopcntq %zmm0,%zmm1 */
		"62f2fd48550d10000000", /* vpopcntq 0x10(%rip),%zmm1 */
		"62f2fd48558845230100", /* vpopcntq 0x12345(%rax),%zmm1 */
		"62f2fd48550c2545230100", /* vpopcntq 0x12345,%zmm1 */
		"6462f2fd485508", /* vpopcntq %fs:(%rax),%zmm1 */
		"62d2fd48550c24", /* vpopcntq (%r12),%zmm1 */
		"62d2fd48554d01", /* vpopcntq 0x40(%r13),%zmm1 */
	};
	struct instruction got;
	struct disasm *disasm;
	uint8_t bytes[16];
	size_t size, i;

	cr_assert_eq(disasm_open(EM_X86_64, DISASM_ATT, &disasm, NULL), 0);
	for (i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		size = from_hex(unknown[i], bytes);
		bytes[size] = 0xc3;
		disasm_next(disasm, bytes, size + 1, 0x1000, &got);
		cr_expect_eq(got.size, size, "%s: %u bytes", unknown[i], got.size);
		for (size--; size; size--) {
			disasm_next(disasm, bytes, size, 0x1000, &got);
			cr_expect_leq(got.size, size);
		}
	}
	disasm_close(disasm);
	check(EM_X86_64, DISASM_ATT,
	      (const struct want[]){
		      { "62f56c4858d9c3", ".byte 0x62, 0xf5, 0x6c, 0x48, 0x58, 0xd9", 6, false, 0 },
		      { "62f2ed4c", ".byte 0x62", 1, false, 0 },
		      { 0 } });
	check(EM_386, DISASM_ATT,
	      (const struct want[]){ { "c5f877", "vzeroupper", 3, false, 0 }, { 0 } });
}

Test(disasm, arm64)
{
	check(EM_AARCH64, DISASM_ATT,
	      (const struct want[]){ { "41000054", "b.ne #0x1008", 4, true, 0x1008 },
				     { "10000094", "bl #0x1040", 4, false, 0x1040 },
				     { "ffffff17", "b #0xffc", 4, true, 0xffc },
				     { "400000b4", "cbz x0, #0x1008", 4, true, 0x1008 },
				     { "40000036", "tbz w0, #0, #0x1008", 4, true, 0x1008 },
				     { "00021fd6", "br x16", 4, true, 0 },
				     { "00003fd6", "blr x0", 4, false, 0 },
				     { "c0035fd6", "ret", 4, false, 0 },
				     { "ffffffff", ".byte 0xff, 0xff, 0xff, 0xff", 4, false, 0 },
				     { "4100", ".byte 0x41, 0x00", 2, false, 0 },
				     { 0 } });
}

Test(disasm, unknown_machine)
{
	struct disasm *disasm;
	struct error err;

	cr_assert_eq(disasm_open(EM_S390, DISASM_ATT, &disasm, &err), -ENOTSUP);
	cr_assert_str_eq(err.text, "machine 22 of the ELF header is none that we disassemble");
	cr_assert_eq(disasm_open(EM_NONE, DISASM_ATT, &disasm, NULL), -ENOTSUP);
	disasm_close(NULL);
}

TestSuite(code, .init = fixture_begin, .fini = fixture_end);

/* From two bytes before MARK(1) to beyond it, to the end of the segment. */
Test(code, of_a_file)
{
	const uint8_t mark[] = { 1, 0, 0, 0, 0x1e, 0xab, 0xa1, 0x5c };
	struct code code;
	struct error err;
	uint64_t offset;
	int fd;

	fixture_write("program.c", "#include \"mark.h\"\nint main(void) { MARK(1); return 0; }\n");
	/* Else on arm64 the file's headers are in its text. */
	fixture_shell("gcc -Wl,-z,separate-code -o program program.c");
	offset = fixture_mark("program", 1);
	fd = fixture_open("program");
	cr_assert_eq(code_read_file(fd, offset, sizeof(mark), &code, &err), 0, "%s", err.text);
	cr_assert_eq(code.size, sizeof(mark));
	cr_assert_arr_eq(code.bytes, mark, sizeof(mark));
	cr_assert_neq(code.machine, EM_NONE);
	free(code.bytes);
	cr_assert_eq(code_read_file(fd, offset, CODE_MAX, &code, &err), 0, "%s", err.text);
	cr_assert_lt(code.size, CODE_MAX);
	cr_assert_arr_eq(code.bytes, mark, sizeof(mark));
	free(code.bytes);
	cr_assert_eq(code_read_file(fd, 0, 1, &code, &err), -ENOENT);
	cr_assert_eq(code_read_file(fd, UINT64_MAX, 1, &code, &err), -ENOENT);
	close(fd);
}

/* /proc/kcore is an ELF file whose segments are at their addresses, like a linked program. */
Test(code, of_the_kernel)
{
	struct code code;
	struct error err;

	fixture_write("core.s", ".globl _start\n_start:\nnop\nnop\n.byte 1, 2, 3, 4\n");
	fixture_shell("gcc -nostdlib -static -no-pie -Wl,--build-id=none "
		      "-Wl,-Ttext=0x7f0000001000 -o core core.s");
	cr_assert_eq(code_read_kcore(fixture_path("core"), 0x7f0000001000, CODE_MAX, &code, &err),
		     0, "%s", err.text);
	cr_assert_not_null(memmem(code.bytes, code.size, "\1\2\3\4", 4));
	free(code.bytes);
	cr_assert_eq(code_read_kcore(fixture_path("core"), 0x6f0000001000, 1, &code, &err),
		     -ENOENT);
	cr_assert_eq(code_read_kcore(fixture_path("none"), 0, 1, &code, &err), -ENOENT);
	cr_assert_not_null(strstr(err.text, "none: No such file"), "%s", err.text);
}
