// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/symbol.h"

#include <criterion/criterion.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elf/elf_image.h"

#include "test_symbol_fixture.h"

static const char program[] =
	"#include \"mark.h\"\n"
	"int puts(const char *), putchar(int);\n"
	"__attribute__((noinline)) static int local(int x) { MARK(1); return x * 3; }\n"
	"__attribute__((noinline)) int work(int x) { MARK(2); return local(x) + 1; }\n"
	"int __work_alias(int) __attribute__((alias(\"work\")));\n"
	"int main(int c, char **v) { MARK(3); putchar(c); puts(v[0]); return work(c); }\n";

static void setup(void)
{
	fixture_begin();
	fixture_write("program.c", program);
}

TestSuite(elf, .init = setup, .fini = fixture_end);

static struct symbol_table *load(const char *name)
{
	int fd = fixture_open(name);
	struct symbol_table *table;
	struct error err = { 0 };

	cr_assert_eq(symbol_table_load_elf(fd, fixture_path(name), "", NULL, NULL, &table, &err), 0,
		     "%s", err.text);
	close(fd);
	return table;
}

static void check_mark(const struct symbol_table *table, const char *name, uint32_t mark,
		       const char *function)
{
	uint64_t offset = fixture_mark(name, mark);
	const struct symbol *symbol = symbol_table_find(table, offset);

	if (!function) {
		cr_assert(!symbol || strstr(symbol->name, "+0x"), "MARK(%u) of %s is in %s", mark,
			  name, symbol->name);
		return;
	}
	cr_assert(symbol, "MARK(%u) of %s is nowhere", mark, name);
	cr_assert_str_eq(symbol->name, function);
	cr_assert(offset - symbol->offset < symbol->size);
}

/* However it is linked, the offset in the file leads to the function. */
static void check_linked(const char *flags)
{
	struct symbol_table *table;
	struct elf_facts facts;
	struct error err = { 0 };
	uint64_t mark;
	int fd;

	fixture_shell("gcc -O1 %s -Wl,--build-id=0x0123abcd -o program program.c", flags);
	table = load("program");
	check_mark(table, "program", 1, "local");
	check_mark(table, "program", 2, "work");
	check_mark(table, "program", 3, "main");
	symbol_table_free(table);

	fd = fixture_open("program");
	cr_assert_eq(elf_facts_read(fd, &facts, &err), 0, "%s", err.text);
	close(fd);
	cr_assert_str_eq(facts.build_id, "0123abcd");
	cr_assert_eq(facts.nr_text, 1);
	mark = fixture_mark("program", 1);
	cr_assert(mark >= facts.text[0].offset && mark - facts.text[0].offset < facts.text[0].size);
	elf_facts_free(&facts);
	elf_facts_free(NULL);
}

Test(elf, pie)
{
	check_linked("-fPIE -pie");
}

Test(elf, no_pie)
{
	check_linked("-fno-pie -no-pie");
}

Test(elf, static_program)
{
	check_linked("-static");
}

Test(elf, static_pie)
{
	check_linked("-static-pie");
}

Test(elf, library)
{
	check_linked("-fPIC -shared");
}

/* Text whose address differs from its offset in the file. */
Test(elf, moved_text)
{
	check_linked("-fno-pie -no-pie -Wl,-Ttext-segment=0x7000000 -Wl,-z,noseparate-code");
}

Test(elf, dynamic_symbols_only)
{
	struct symbol_table *table;

	fixture_shell("gcc -O1 -fPIC -shared -s -o program program.c");
	table = load("program");
	check_mark(table, "program", 1, NULL);
	check_mark(table, "program", 2, "work");
	symbol_table_free(table);
}

/*
 * A stripped program still has its functions, but not their names, because unwinding needs their
 * starts.
 */
Test(elf, functions_of_a_stripped_program)
{
	const struct symbol *helper, *work;
	struct symbol_table *table;
	char expected[64];

	fixture_shell("gcc -O1 -s -o program program.c");
	table = load("program");
	helper = symbol_table_find(table, fixture_mark("program", 1));
	work = symbol_table_find(table, fixture_mark("program", 2));
	cr_assert(helper && work && helper != work);
	snprintf(expected, sizeof(expected), "program+0x%lx", work->offset);
	cr_assert_str_eq(work->name, expected);
	cr_assert_leq(work->offset, fixture_mark("program", 2));
	cr_assert_gt(work->offset + work->size, fixture_mark("program", 2));
	symbol_table_free(table);
}

Test(elf, no_symbols)
{
	struct symbol_table *table;
	struct elf_facts facts;
	int fd;

	fixture_shell("gcc -O1 -static -s -Wl,--build-id=none -o program program.c");
	table = load("program");
	check_mark(table, "program", 2, NULL);
	cr_assert_null(symbol_table_named(table, "work"));
	symbol_table_free(table);
	fd = fixture_open("program");
	cr_assert_eq(elf_facts_read(fd, &facts, NULL), 0);
	cr_assert_null(facts.build_id);
	elf_facts_free(&facts);
	close(fd);
}

Test(elf, aliases)
{
	struct symbol_table *table;
	const struct symbol *work, *alias;

	fixture_shell("gcc -O1 -o program program.c");
	table = load("program");
	work = symbol_table_named(table, "work");
	alias = symbol_table_named(table, "__work_alias");
	cr_assert(work && alias);
	cr_assert_eq(work->offset, alias->offset);
	cr_assert_str_eq(alias->name, "__work_alias");
	cr_assert_null(symbol_table_named(table, "wor"));
	symbol_table_free(table);
}

Test(elf, assembly)
{
	struct symbol_table *table;

	fixture_write("bare.s", ".text\n"
				".globl first\n"
				"first: .quad 0x5ca1ab1e00000001\n"
				".globl second\n"
				"second: .quad 0x5ca1ab1e00000002\n"
				".type sized, @function\n"
				"sized: .quad 0\n"
				"inside: .quad 0x5ca1ab1e00000003\n"
				".size sized, . - sized\n"
				"last: .quad 0, 0x5ca1ab1e00000004\n"
				".type f_info, @object\n"
				"f_info: .quad 0x5ca1ab1e00000006\n"
				".size f_info, . - f_info\n"
				".section other, \"ax\"\n"
				".quad 0x5ca1ab1e00000005\n"
				".data\n"
				".globl datum\n"
				".type datum, @object\n"
				"datum: .quad 1\n");
	fixture_shell("gcc -nostdlib -nostartfiles -shared -o bare bare.s");
	table = load("bare");
	check_mark(table, "bare", 1, "first");
	check_mark(table, "bare", 2, "second");
	check_mark(table, "bare", 3, "sized");
	check_mark(table, "bare", 4, "last");
	check_mark(table, "bare", 5, NULL);
	check_mark(table, "bare", 6, "f_info");
	cr_assert_null(symbol_table_named(table, "datum"));
	symbol_table_free(table);
}

/* A function without a size ends where unwinding information says, or where the next one begins. */
Test(elf, unsized_by_unwinding)
{
	struct symbol_table *table;

	fixture_write("bare.s", ".text\n"
				".globl framed\n"
				".cfi_startproc\n"
				"framed: .quad 0x5ca1ab1e00000001\n"
				".cfi_endproc\n"
				".quad 0x5ca1ab1e00000002\n"
				".globl bare\n"
				"bare: .quad 0x5ca1ab1e00000003\n"
				".cfi_startproc\n"
				".quad 0x5ca1ab1e00000004\n"
				".cfi_endproc\n");
	fixture_shell("gcc -nostdlib -nostartfiles -shared -o bare bare.s");
	table = load("bare");
	check_mark(table, "bare", 1, "framed");
	check_mark(table, "bare", 2, NULL);
	check_mark(table, "bare", 3, "bare");
	check_mark(table, "bare", 4, NULL);
	symbol_table_free(table);
}

/*
 * If neither is near, because the symbols of assembly were removed, it does not get all the rest.
 */
Test(elf, unsized_before_much)
{
	struct symbol_table *table;

	fixture_write("bare.s", ".text\n"
				".globl near\n"
				"near: .quad 0\n"
				".fill 16000\n"
				".quad 0x5ca1ab1e00000001\n"
				".globl far\n"
				"far: .quad 0x5ca1ab1e00000002\n"
				".fill 225312\n"
				".quad 0x5ca1ab1e00000003\n");
	fixture_shell("gcc -nostdlib -nostartfiles -shared -o bare bare.s");
	table = load("bare");
	check_mark(table, "bare", 1, "near");
	check_mark(table, "bare", 2, "far");
	check_mark(table, "bare", 3, NULL);
	cr_assert_eq(symbol_table_named(table, "far")->size, 4096);
	symbol_table_free(table);
}

/* Names that a C compiler accepts for the assembler. */
Test(elf, mangled)
{
	static const char *const names[][2] = {
		{ "_ZN2ns4workEi", "ns::work(int)" },
		{ "_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write" },
		{ "_RNvCs1234_7mycrate3foo", "mycrate::foo" },
		{ "_Zrubbish", "_Zrubbish" },
	};
	char text[256];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct symbol_table *table;

		snprintf(text, sizeof(text),
			 ".text\n.globl %s\n.type %s, @function\n"
			 "%s: .quad 0x5ca1ab1e00000001\n.size %s, 8\n",
			 names[i][0], names[i][0], names[i][0], names[i][0]);
		fixture_write("name.s", text);
		fixture_shell("gcc -nostdlib -shared -o name name.s");
		table = load("name");
		cr_assert(symbol_table_named(table, names[i][0]));
		check_mark(table, "name", 1, names[i][1]);
		cr_assert(symbol_table_named(table, names[i][0]));
		cr_assert(symbol_table_named(table, names[i][1]));
		cr_assert_eq(symbol_table_named(table, "ns::work") != NULL, i == 0);
		symbol_table_free(table);
	}
}

/*
 * objdump names these jumps by disassembling them; we use the order of the relocations. Returns how many have
 * a name.
 */
static unsigned int compare_plt(const char *file)
{
	unsigned long address;
	struct symbol_table *table;
	const struct symbol *symbol;
	char name[64], *text, *line, *rest;
	unsigned int nr = 0;
	size_t size;

	fixture_shell("objdump -d %s > dump", file);
	table = load(file);
	text = fixture_read("dump", &size);
	text[size] = '\0';
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (!strstr(line, "@plt>:") || sscanf(line, "%lx <%58[a-z]", &address, name) != 2)
			continue;
		strcat(name, "@plt");
		/* The only segment starts at offset 0. */
		symbol = symbol_table_find(table, address & 0xfffff);
		cr_assert(symbol, "%s", name);
		cr_assert_str_eq(symbol->name, name);
		nr++;
	}
	free(text);
	symbol_table_free(table);
	return nr;
}

static void check_plt(const char *flags)
{
	fixture_shell("gcc -O1 -Wl,-z,lazy -Wl,-z,noseparate-code %s -o program program.c", flags);
	/* The C library's start of a program has others, as arm64's jumps to abort(). */
	cr_assert_geq(compare_plt("program"), 2);
}

Test(elf, plt)
{
	check_plt("-fPIE -pie");
	check_plt("-fno-pie -no-pie -Wl,-Ttext-segment=0x700000");
	check_plt("-fPIE -pie -s");
}

static const char chooses[] =
	"int puts(const char *), putchar(int), getchar(void), rand(void), abs(int);\n"
	"int toupper(int), tolower(int), isalpha(int), isdigit(int), fork(void);\n"
	"static int plain(int x) { return x; }\n"
	"static void *choose(void) { return plain; }\n"
	"#define CHOSEN(name)							\\\n"
	"	__attribute__((ifunc(\"choose\"), visibility(\"hidden\"))) int name(int);\n"
	"CHOSEN(first) CHOSEN(second) CHOSEN(third) CHOSEN(fourth)\n"
	"int work(int x) { return first(x) + putchar(x) + second(x) + getchar() + rand() +\n"
	"	third(x) + puts(\"\") + abs(x) + toupper(x) + tolower(x) + fourth(x) +\n"
	"	isalpha(x) + isdigit(x) + fork(); }\n";

/* The linker puts the relocations of its own indirect functions last, but their jumps are among the others. */
Test(elf, plt_with_indirect_functions)
{
	fixture_write("chooses.c", chooses);
	fixture_shell("gcc -O1 -fPIC -fno-builtin -shared -Wl,-z,lazy -Wl,-z,noseparate-code "
		      "-o chooses chooses.c");
	fixture_shell("readelf -rW chooses | grep -q _IRELATIV");
	cr_assert_geq(compare_plt("chooses"), 10);
}

Test(elf, plt_of_cet)
{
	struct symbol_table *table;

#ifndef __x86_64__
	return;
#endif
	check_plt("-fcf-protection -Wl,-z,ibtplt");
	table = load("program");
	cr_assert(symbol_table_named(table, "puts@plt"));
	symbol_table_free(table);
}

Test(elf, not_elf)
{
	struct symbol_table *table;
	struct source_lines *lines;
	struct elf_facts facts;
	struct error err = { 0 };
	uint64_t offset = 0;
	int fd = fixture_open("program.c");

	cr_assert_eq(elf_facts_read(fd, &facts, &err), -ENOEXEC);
	cr_assert_str_eq(err.text, "ELF file: not an ELF file");
	cr_assert_eq(symbol_table_load_elf(fd, "program.c", "", NULL, NULL, &table, &err),
		     -ENOEXEC);
	cr_assert_eq(source_lines_load(fd, "program.c", "", &offset, 1, &lines, &err), -ENOEXEC);
	close(fd);
	cr_assert_lt(elf_facts_read(fd, &facts, &err), 0);
	cr_assert(!strchr(err.text, '\n') && err.text[0]);
}

/* A file that is cut off anywhere is refused or has fewer symbols. */
Test(elf, every_truncation)
{
	int fd = memfd_create("cut", MFD_CLOEXEC);
	size_t size, cut;
	char *bytes;

	fixture_shell(
		"gcc -O1 -g -nostartfiles -shared -Wl,-z,noseparate-code -o program program.c");
	bytes = fixture_read("program", &size);
	for (cut = 0; cut <= size; cut += cut < 128 ? 1 : 37) {
		uint64_t offset = fixture_mark("program", 2);
		struct symbol_table *table;
		struct source_lines *lines;

		cr_assert_eq(ftruncate(fd, 0), 0);
		cr_assert_eq(pwrite(fd, bytes, cut, 0), (ssize_t)cut);
		if (!symbol_table_load_elf(fd, "/cut", "", NULL, NULL, &table, NULL)) {
			symbol_table_find(table, offset);
			symbol_table_free(table);
		}
		if (!source_lines_load(fd, "/cut", "", &offset, 1, &lines, NULL))
			source_lines_free(lines);
	}
	free(bytes);
	close(fd);
}

Test(elf, in_memory)
{
	struct symbol_table *table;
	struct elf_facts facts;
	struct error err = { 0 };
	size_t size;
	char *bytes;

	fixture_shell("gcc -O1 -Wl,--build-id=0xfeedbeef -o program program.c");
	bytes = fixture_read("program", &size);
	cr_assert_eq(symbol_table_load_memory(bytes, size, NULL, &table, &err), 0, "%s", err.text);
	cr_assert_eq(elf_facts_read_memory(bytes, size, &facts, &err), 0, "%s", err.text);
	free(bytes);
	check_mark(table, "program", 2, "work");
	cr_assert_str_eq(facts.build_id, "feedbeef");
	elf_facts_free(&facts);
	symbol_table_free(table);
	cr_assert_eq(symbol_table_load_memory("no ELF", 6, NULL, &table, &err), -ENOEXEC);
}

Test(elf, vdso)
{
	const ElfW(Ehdr) *image = (const void *)getauxval(AT_SYSINFO_EHDR);
	struct symbol_table *table;
	const struct symbol *symbol;
	struct error err = { 0 };
	size_t size;

	cr_assert(image);
	size = image->e_shoff + (size_t)image->e_shnum * image->e_shentsize;
	cr_assert_eq(symbol_table_load_memory(image, size, NULL, &table, &err), 0, "%s", err.text);
	symbol = symbol_table_named(table, "__vdso_clock_gettime");
	if (!symbol)
		symbol = symbol_table_named(table, "__kernel_clock_gettime");
	cr_assert(symbol);
	cr_assert_eq(symbol_table_find(table, symbol->offset)->offset, symbol->offset);
	symbol_table_free(table);
}
