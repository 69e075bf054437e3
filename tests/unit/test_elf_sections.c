// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Sections that libelf would have to copy, each a hole that takes no space on the disk: whoever reads the
 * file takes no memory for it.
 */
#include "elf/elf_check.h"

#include <criterion/criterion.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "elf/elf_image.h"
#include "hostile.h"
#include "naming/functions.h"
#include "symbol/pclntab.h"
#include "symbol/symbol.h"
#include "symbol/symbol_table.h"
#include "test_symbol_fixture.h"
#include "unwind/unwind_table.h"

TestSuite(elf_sections, .init = fixture_begin, .fini = fixture_end, .timeout = 60);

enum { SPENT_KIB = 24 << 10, HOLE_BYTES = 9000 * 10080 };

static void make_base(void)
{
	fixture_write("program.c", "#include \"mark.h\"\n#include <stdio.h>\n"
				   "int spin(int x) { MARK(1); return puts(\"\") + x; }\n");
	fixture_shell("gcc -g -O1 -shared -fPIC -Wl,--build-id -o base program.c");
}

static void make_hole(const char *section, uint32_t type, size_t size, size_t behind)
{
	char *base = strdup(fixture_path("base"));

	hostile_make_hole(base, fixture_path("hole"), section, type, size, behind);
	free(base);
}

/* All that reads a file of a user. */
static void read_all(int fd, const char *path)
{
	const uint64_t offset = fixture_mark("base", 1);
	struct unwind_table rules;
	struct symbol_table *table;
	struct source_lines *lines;
	struct elf_facts facts = { 0 };
	struct unwind_go go = { 0 };
	struct elf_image image;
	struct error err;

	if (!elf_facts_read(fd, &facts, &err))
		elf_facts_free(&facts);
	if (!symbol_table_load_elf(fd, path, "", NULL, NULL, &table, &err))
		symbol_table_free(table);
	if (!source_lines_load(fd, path, "", &offset, 1, &lines, &err))
		source_lines_free(lines);
	if (elf_image_open(fd, &image, &err))
		return;
	pclntab_text(&image, &go.offset, &go.size);
	if (!unwind_table_read(&image, UNWIND_BYTES_MAX, &go, &rules, &err))
		unwind_table_free(&rules);
	elf_image_close(&image);
}

static long peak_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

/* How many KiB reading the file adds to the memory of a process. */
static long memory_for(const char *name)
{
	char *path = strdup(fixture_path(name));
	long *added = mmap(NULL, sizeof(*added), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			   -1, 0);
	int status = -1;
	long ret;
	pid_t child;

	cr_assert_neq(added, MAP_FAILED);
	fflush(NULL);
	child = fork();
	cr_assert_geq(child, 0);
	if (!child) {
		*added = -peak_kib();
		read_all(fixture_open(name), path);
		*added += peak_kib();
		_exit(0);
	}
	free(path);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0, "%s: wait status 0x%x", name, (unsigned int)status);
	ret = *added;
	munmap(added, sizeof(*added));
	return ret;
}

static const struct {
	const char *name;
	uint32_t type;
} readable[] = {
	{ ".symtab", SHT_SYMTAB },
	{ ".dynsym", SHT_DYNSYM },
	{ ".symtab_shndx", SHT_SYMTAB_SHNDX },
	{ ".rela.plt", SHT_RELA },
	{ ".rela.dyn", SHT_RELA },
	{ ".dynamic", SHT_DYNAMIC },
	{ ".strtab", SHT_RELA },
	{ ".eh_frame", SHT_RELA },
	{ ".eh_frame_hdr", SHT_RELA },
	{ ".debug_frame", SHT_DYNAMIC },
	{ ".debug_info", SHT_INIT_ARRAY },
	{ ".debug_abbrev", SHT_GROUP },
	{ ".debug_line", SHT_SYMTAB_SHNDX },
	{ ".debug_str", SHT_GNU_HASH },
	{ ".debug_aranges", SHT_GNU_versym },
	{ ".gnu_debugdata", SHT_RELA },
	{ ".gnu_debuglink", SHT_RELA },
	{ ".gnu_debugaltlink", SHT_RELA },
	{ ".gopclntab", SHT_RELA },
	{ ".note.gnu.build-id", SHT_NOTE },
	{ ".note.stapsdt", SHT_NOTE },
};

Test(elf_sections, that_are_not_aligned)
{
	size_t i;

	make_base();
	for (i = 0; i < sizeof(readable) / sizeof(*readable); i++) {
		make_hole(readable[i].name, readable[i].type, HOLE_BYTES, 1);
		cr_expect_lt(memory_for("hole"), SPENT_KIB, "%s", readable[i].name);
	}
}

/* Where there is nothing to copy, there is nothing to refuse. */
Test(elf_sections, that_are_aligned)
{
	struct elf_image image;
	struct error err = { 0 };
	size_t i;
	int fd;

	make_base();
	for (i = 0; i < sizeof(readable) / sizeof(*readable); i++) {
		if (readable[i].type == SHT_NOTE)
			continue;
		make_hole(readable[i].name, readable[i].type, HOLE_BYTES, 8);
		fd = fixture_open("hole");
		cr_expect_eq(elf_image_open(fd, &image, &err), 0, "%s: %s", readable[i].name,
			     err.text);
		elf_image_close(&image);
		close(fd);
	}
}

static void check_refused(const char *words)
{
	struct elf_image image;
	struct error err = { 0 };
	int fd = fixture_open("hole");

	cr_assert_eq(elf_image_open(fd, &image, &err), -E2BIG);
	cr_assert(strstr(err.text, words), "%s", err.text);
	close(fd);
}

Test(elf_sections, sum_is_limited)
{
	make_base();
	make_hole(".rela.plt", SHT_RELA, ELF_COPIED_MAX + 24, 4);
	check_refused(" bytes of misaligned sections, more than are read");
	make_hole(".note.gnu.build-id", SHT_NOTE, ELF_NOTES_MAX + 4, 4);
	check_refused(" bytes of notes, more than are read");
}

/* Writes a copy of base whose symbol tables are at odd offsets. */
static void make_odd(void)
{
	size_t size, end, i;
	char *base = fixture_read("base", &size), *odd = calloc(3, size);
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)base;
	FILE *file = fopen(fixture_path("odd"), "we");

	cr_assert(odd && file);
	memcpy(odd, base, size);
	for (i = 0, end = size | 1; i < head->e_shnum; i++) {
		Elf64_Shdr *section = (Elf64_Shdr *)(odd + head->e_shoff) + i;

		if (section->sh_type != SHT_SYMTAB && section->sh_type != SHT_DYNSYM)
			continue;
		memcpy(odd + end, base + section->sh_offset, section->sh_size);
		section->sh_offset = end;
		end += section->sh_size | 1;
		end |= 1;
	}
	cr_assert_eq(fwrite(odd, 1, end, file), end);
	fclose(file);
	free(odd);
	free(base);
}

/* Tables that are small enough to be copied still give names. */
Test(elf_sections, small_ones_are_copied)
{
	const struct symbol *symbol;
	struct symbol_table *table;
	struct error err = { 0 };
	int fd;

	make_base();
	make_odd();
	fd = fixture_open("odd");
	cr_assert_eq(symbol_table_load_elf(fd, fixture_path("odd"), "", NULL, NULL, &table, &err),
		     0, "%s", err.text);
	symbol = symbol_table_find(table, fixture_mark("base", 1));
	cr_assert(symbol && !strcmp(symbol->name, "spin"));
	symbol_table_free(table);
	close(fd);
}

/* What bpfprofil-security(7) says, and the pages of the file that are read in place. */
enum { FRAMES_KIB = 140 << 10, IN_PLACE_KIB = 64 << 10 };

Test(elf_sections, call_frame_information)
{
	static const enum hostile_kind kinds[] = { HOSTILE_FUNCTIONS, HOSTILE_ROWS,
						   HOSTILE_CIRCLE };
	char *base, *folder;
	size_t i;
	long kib;

	make_base();
	base = strdup(fixture_path("base"));
	folder = strdup(fixture_path("."));
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		hostile_make(base, folder, kinds[i]);
		kib = memory_for(hostile_name(kinds[i]));
		cr_expect_lt(kib, FRAMES_KIB + IN_PLACE_KIB, "%s: %ld KiB", hostile_name(kinds[i]),
			     kib);
	}
	free(base);
	free(folder);
}
