// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Names and lines of Go programs without symbols and debug information. */
#include "symbol/symbol.h"

#include <ctype.h>
#include <criterion/criterion.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elf/elf_image.h"
#include "need.h"
#include "naming/functions.h"
#include "symbol/symbol_table.h"
#include "test_symbol_fixture.h"

/*
 * A table as Go writes it. LAYOUT is its number, and PLACE and OFFSET are how it has places of the
 * text and offsets; START is what stands where the text's start does, or nothing.
 */
/* clang-format off */
static const char table[] =
	".text\n"
	".skip 32, 0xcc\n" /* as what C's linker puts before Go's text */
	"first: .quad 0x5ca1ab1e00000001, 0x5ca1ab1e00000002\n"
	".skip 48\n"
	"second: .quad 0x5ca1ab1e00000003\n"
	".skip 56\n"
	"end: .quad 0x5ca1ab1e00000004\n"
	".section SECTION, \"aw\"\n"
	".balign 32\n"
	".skip BEFORE, 0x11\n"
	"table: .long LAYOUT\n"
	".byte 0, 0, 1, 8\n"
	".quad 2, 1 START, names - table, units - table, files - table, values - table\n"
	".quad functions - table\n"
	"names: .asciz \"main.first\"\n"
	"second_name: .asciz \"main.(*T[...]).second\"\n"
	"units: .long file - files, 0xffffffff\n"
	"files: .asciz \"unused.go\"\n"
	"file: .asciz \"/src/main.go\"\n"
	"values: .byte 0\n"
	"file_values: .byte 2, 64, 0\n" /* 0 in 64 bytes */
	"first_lines: .byte 22, 8, 2, 8, 1, 48, 0\n" /* 10, 11, 10 */
	"second_lines: .byte 0xda, 4, 4, 3, 60, 0\n" /* 300 in 4 bytes, 298 in 60 */
	".balign 8\n"
	"functions: PLACE(first)\n"
	"OFFSET first_is - functions\n"
	"PLACE(second)\n"
	"OFFSET second_is - functions\n"
	"PLACE(end)\n"
	"first_is: PLACE(first)\n"
	".long 0, 0, 0, 0, file_values - values, first_lines - values, 0, 0, 0, 0\n"
	"second_is: PLACE(second)\n"
	".long second_name - names, 0, 0, 0, file_values - values, second_lines - values, 0, 0, 0, 0\n"
	"MORE\n"
	".section .note.GNU-stack, \"\"\n";
/* clang-format on */

#define OF_1_16 "-DLAYOUT=0xfffffffa '-DPLACE(x)=.quad x' -DOFFSET=.quad -DSTART= "
#define OF_1_18 "-DLAYOUT=0xfffffff0 '-DPLACE(x)=.long x - first' -DOFFSET=.long -DSTART=',first' "
#define OF_1_20 "-DLAYOUT=0xfffffff1 '-DPLACE(x)=.long x - first' -DOFFSET=.long -DSTART=',first' "
#define OF_1_26 "-DLAYOUT=0xfffffff1 '-DPLACE(x)=.long x - first' -DOFFSET=.long -DSTART=',0' "
#define MODULE "-DMORE='.section .go.module,\"aw\"; .skip 176; .quad first' "
#define AT(section, before) "-DSECTION='" section "' -DBEFORE=" #before " "

TestSuite(go, .init = fixture_begin, .fini = fixture_end);

static void link_table(const char *flags, const char *how)
{
	fixture_write("table.S", table);
	fixture_shell("gcc -nostdlib -Wl,-e,0 -s -DMORE= %s %s -o program table.S 2>err || "
		      "{ cat err; false; }",
		      how, flags);
}

static struct symbol_table *load(const char *name)
{
	int fd = fixture_open(name);
	struct symbol_table *symbols;
	struct error err = { 0 };

	cr_assert_eq(symbol_table_load_elf(fd, fixture_path(name), "", NULL, NULL, &symbols, &err),
		     0, "%s", err.text);
	close(fd);
	return symbols;
}

static void check_name(const struct symbol_table *symbols, uint32_t mark, const char *name)
{
	uint64_t offset = fixture_mark("program", mark);
	const struct symbol *symbol = symbol_table_find(symbols, offset);

	cr_assert_eq(!symbol, !name, "MARK(%u) is in %s", mark, symbol ? symbol->name : "nothing");
	if (!symbol)
		return;
	cr_assert_str_eq(symbol->name, name);
	cr_assert(offset - symbol->offset < symbol->size);
}

static void check_line(const struct source_line *line, const char *file, uint32_t number)
{
	cr_assert_eq(!line->file, !file, "%s:%u", line->file, line->line);
	if (file)
		cr_assert_str_eq(line->file, file);
	cr_assert_eq(line->line, number, "%u and not %u", line->line, number);
	cr_assert(!line->function && !line->scope && !line->caller);
}

static void check_table(bool has)
{
	static const char file[] = "/src/main.go";
	struct symbol_table *symbols = load("program");
	struct source_lines *lines;
	struct error err = { 0 };
	int fd = fixture_open("program");
	uint64_t places[6];
	uint32_t i;

	check_name(symbols, 1, has ? "main.first" : NULL);
	check_name(symbols, 2, has ? "main.first" : NULL);
	check_name(symbols, 3, has ? "main.(*T[...]).second" : NULL);
	check_name(symbols, 4, NULL);
	symbol_table_free(symbols);
	for (i = 0; i < 4; i++)
		places[i + (i > 2)] = fixture_mark("program", i + 1);
	places[3] = places[2] + 4;
	places[5] = UINT64_MAX;
	cr_assert_eq(source_lines_load(fd, "/program", "", places, 6, &lines, &err), 0, "%s",
		     err.text);
	check_line(source_lines_at(lines, 0), has ? file : NULL, has ? 10 : 0);
	check_line(source_lines_at(lines, 1), has ? file : NULL, has ? 11 : 0);
	check_line(source_lines_at(lines, 2), has ? file : NULL, has ? 300 : 0);
	check_line(source_lines_at(lines, 3), has ? file : NULL, has ? 298 : 0);
	check_line(source_lines_at(lines, 4), NULL, 0);
	check_line(source_lines_at(lines, 5), NULL, 0);
	source_lines_free(lines);
	close(fd);
}

static void check_linked(const char *flags, const char *how, bool has)
{
	link_table(flags, how);
	check_table(has);
}

/* Of all layouts, at fixed addresses. */
Test(go, layouts)
{
	check_linked(OF_1_16 AT(".gopclntab", 0), "-static", true);
	check_linked(OF_1_18 AT(".gopclntab", 0), "-static", true);
	check_linked(OF_1_20 AT(".gopclntab", 0), "-static", true);
	check_linked(OF_1_26 AT(".gopclntab", 0) MODULE, "-static", true);
	check_linked(OF_1_26 AT(".gopclntab", 0), "-static", false);
}

Test(go, position_independent)
{
	check_linked(OF_1_16 AT(".gopclntab", 0), "-shared", true);
	check_linked(OF_1_18 AT(".gopclntab", 0), "-shared", true);
	fixture_shell("objcopy --rename-section .gopclntab=.data.rel.ro.gopclntab program");
	check_table(true);
	check_linked(OF_1_20 AT(".gopclntab", 0), "-shared", true);
	check_linked(OF_1_26 AT(".gopclntab", 0) MODULE, "-shared", true);
}

/* As clang's linker leaves it: what the loader relocates is zero in the file. */
static void clear_address(const char *section, long at)
{
	fixture_shell("at=$(readelf -SW program | "
		      "sed -n 's/.* \\%s *PROGBITS *[0-9a-f]* \\([0-9a-f]*\\) .*/\\1/p') && "
		      "head -c 8 /dev/zero | "
		      "dd of=program bs=1 seek=$((0x$at + %ld)) conv=notrunc status=none",
		      section, at);
}

Test(go, zeros_to_relocate)
{
	link_table(OF_1_20 AT(".gopclntab", 0), "-shared");
	clear_address(".gopclntab", 24);
	check_table(true);
	link_table(OF_1_26 AT(".gopclntab", 0) MODULE, "-shared");
	clear_address(".go.module", 176);
	check_table(true);
	/* Without relocations nothing is known, and of 1.16 no address is. */
	link_table(OF_1_20 AT(".gopclntab", 0), "-static");
	clear_address(".gopclntab", 24);
	check_table(false);
}

/* Among what else is relocated, where it is looked for in a Go program alone. */
Test(go, in_another_section)
{
	static const char there[] = OF_1_20 AT(".data.rel.ro", 72);
	char *flags;

	check_linked(there, "-shared", false);
	cr_assert_geq(asprintf(&flags,
			       "%s -DMORE='.section .go.buildinfo,\"aw\"; .skip 32; "
			       ".section .data.rel.ro; .skip 640'",
			       there),
		      0);
	check_linked(flags, "-shared", true);
	free(flags);
}

/* Who has symbols keeps their names, and only the lines are the table's. */
Test(go, beside_symbols)
{
	struct symbol_table *symbols;

	link_table(OF_1_20 AT(".gopclntab", 0), "-static");
	fixture_shell("gcc -nostdlib -Wl,-e,0 -static -DMORE= " OF_1_20 AT(
		".gopclntab", 0) " -o full table.S 2>/dev/null");
	symbols = load("full");
	check_name(symbols, 1, "first");
	check_name(symbols, 3, "second");
	symbol_table_free(symbols);
	/* Exported names are better, as they are beside a table of symbols. */
	fixture_shell("echo '.globl first' | cat - table.S >global.S && gcc -nostdlib -shared -s "
		      "-DMORE='.type first,@function; .size first,64' " OF_1_20 AT(
			      ".gopclntab", 0) " -Wl,-Bsymbolic -o program global.S 2>/dev/null");
	symbols = load("program");
	check_name(symbols, 1, "first");
	check_name(symbols, 3, "main.(*T[...]).second");
	symbol_table_free(symbols);
}

static int open_program(void *ctx, uint32_t object, char *root, size_t root_size)
{
	(void)ctx;
	(void)object;
	snprintf(root, root_size, "%s", "");
	return fixture_open("program");
}

/* No note says how to get names, for there are. */
Test(go, no_note)
{
	const struct object_opener opener = { .open = open_program };
	struct profile_object object = { .kind = PROFILE_FILE, .path = "/program" };
	struct profile_bin bin = { .count = 10 };
	struct profile_histogram histogram = { .pid = -1,
					       .bytes_per_bin = 1,
					       .bins = &bin,
					       .nr_bins = 1 };
	struct profile profile = { .objects = &object,
				   .nr_objects = 1,
				   .histograms = &histogram,
				   .nr_histograms = 1 };
	struct error err = { 0 };

	link_table(OF_1_20 AT(".gopclntab", 0), "-static");
	histogram.offset = fixture_mark("program", 3);
	cr_assert_eq(functions_resolve(&profile, &opener, &err), 0, "%s", err.text);
	cr_assert_eq(profile.nr_functions, 1);
	cr_assert_str_eq(profile.functions[0].name, "main.(*T[...]).second");
	cr_assert_eq(profile.nr_notes, 0);
}

/* --- malformed tables --------------------------------------------------------------------------- */

struct image {
	char *bytes;
	size_t size;
	size_t at; /* of the table */
	size_t length;
	Elf64_Shdr *section; /* in bytes */
};

static void read_image(struct image *image)
{
	static const unsigned char magic[] = { 0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8 };
	const Elf64_Ehdr *head;
	char *found;
	size_t i;

	image->bytes = fixture_read("program", &image->size);
	found = memmem(image->bytes, image->size, magic, sizeof(magic));
	cr_assert(found);
	image->at = (size_t)(found - image->bytes);
	head = (const Elf64_Ehdr *)image->bytes;
	image->section = (Elf64_Shdr *)(image->bytes + head->e_shoff);
	for (i = 0; i < head->e_shnum && image->section->sh_offset != image->at; i++)
		image->section++;
	cr_assert_lt(i, head->e_shnum);
	image->length = image->section->sh_size;
}

/* Whatever the table says, what is found contains the place. Returns how much was found. */
static int read_places(const struct image *image, const uint64_t *places, size_t nr)
{
	int fd = memfd_create("table", MFD_CLOEXEC), found = 0;
	struct symbol_table *symbols = NULL;
	struct source_lines *lines = NULL;
	const struct symbol *symbol;
	struct error err = { 0 };
	size_t i;

	cr_assert_eq(write(fd, image->bytes, image->size), (ssize_t)image->size);
	cr_assert_eq(symbol_table_load_elf(fd, "/table", "", NULL, NULL, &symbols, &err), 0, "%s",
		     err.text);
	cr_assert_eq(source_lines_load(fd, "/table", "", places, nr, &lines, &err), 0);
	for (i = 0; i < nr; i++) {
		symbol = symbol_table_find(symbols, places[i]);
		cr_assert(!symbol || (*symbol->name && places[i] >= symbol->offset &&
				      places[i] - symbol->offset < symbol->size));
		found += symbol != NULL;
		found += source_lines_at(lines, i)->file != NULL;
	}
	symbol_table_free(symbols);
	source_lines_free(lines);
	close(fd);
	return found;
}

Test(go, every_truncation)
{
	int found, before = 0;
	uint64_t places[2];
	struct image image;
	size_t cut;

	link_table(OF_1_20 AT(".gopclntab", 0), "-static");
	read_image(&image);
	places[0] = fixture_mark("program", 1);
	places[1] = fixture_mark("program", 3);
	for (cut = 0; cut <= image.length; cut++) {
		image.section->sh_size = image.length - cut;
		found = read_places(&image, places, 2);
		cr_assert(cut ? found <= before : found == 4, "%zu", cut);
		before = found;
	}
	cr_assert_eq(before, 0);
	free(image.bytes);
}

Test(go, every_byte)
{
	static const unsigned char values[] = { 0, 1, 0x7f, 0x80, 0xff };
	uint64_t places[4];
	struct image image;
	size_t i, value;
	uint32_t mark;

	link_table(OF_1_20 AT(".gopclntab", 0), "-static");
	read_image(&image);
	for (mark = 0; mark < 4; mark++)
		places[mark] = fixture_mark("program", mark + 1);
	for (i = image.at; i < image.at + image.length; i++) {
		char before = image.bytes[i];

		for (value = 0; value < sizeof(values); value++) {
			image.bytes[i] = (char)values[value];
			cr_assert_leq(read_places(&image, places, 4), 8);
		}
		image.bytes[i] = before;
	}
	free(image.bytes);
}

/*
 * A megabyte of text with a line for each byte. Every other function, and so each in which a search for
 * a place ends, begins where the text does: there were 34 billion steps to take over their lines.
 */
/* clang-format off */
static const char overlapping[] =
	".text\n"
	"text: .skip 1 << 20, 0x90\n"
	".section .gopclntab, \"a\"\n"
	"table: .long 0xfffffff1\n"
	".byte 0, 0, 1, 8\n"
	".quad 131070, 1, text, names - table, units - table, files - table, values - table\n"
	".quad functions - table\n"
	"names: .fill 1 << 20, 1, 'n'\n"
	".byte 0\n"
	"units: .long 0\n"
	"files: .asciz \"main.go\"\n"
	"values: .byte 0\n"
	"file_values: .byte 2, 0x80, 0x80, 0x40, 0\n"
	"line_values: .fill 1 << 20, 2, 0x0102\n"
	".byte 0\n"
	".balign 8\n"
	"functions:\n"
	".set at, 16\n"
	".rept 65535\n"
	".long 0, function - functions, at, function - functions\n"
	".set at, at + 16\n"
	".endr\n"
	".long 1 << 20\n"
	"function: .long 0, 0, 0, 0, 0, file_values - values, line_values - values, 0, 0, 0, 0\n"
	".section .note.GNU-stack, \"\"\n";
/* clang-format on */

Test(go, overlapping)
{
	enum { NR = 65535 };
	static uint64_t places[NR];
	struct source_lines *lines;
	struct symbol_table *symbols;
	struct error err = { 0 };
	struct elf_facts facts;
	size_t i;
	int fd;

	fixture_write("table.s", overlapping);
	fixture_shell("gcc -nostdlib -static -s -Wl,-e,0,-z,separate-code -o program table.s "
		      "2>/dev/null");
	fd = fixture_open("program");
	cr_assert_eq(elf_facts_read(fd, &facts, &err), 0, "%s", err.text);
	for (i = 0; i < NR; i++)
		places[i] = facts.text->offset + 16 * i + 8;
	elf_facts_free(&facts);
	cr_assert_eq(source_lines_load(fd, "/program", "", places, NR, &lines, &err), 0, "%s",
		     err.text);
	cr_assert_eq(source_lines_at(lines, 0)->line, 8);
	cr_assert_null(source_lines_at(lines, 1)->file);
	source_lines_free(lines);
	/* All have a name of a megabyte, of which each would have its own copy. */
	cr_assert_eq(symbol_table_load_elf(fd, "/program", "", NULL, NULL, &symbols, &err), -E2BIG);
	cr_assert(strstr(err.text, "or 256 MiB of names"), "%s", err.text);
	close(fd);
}

/* --- programs of the Go that is in PATH ---------------------------------------------------------- */

static const char program[] =
	"package main\n"
	"type T struct{ n int }\n"
	"//go:noinline\n"
	"func (t *T) Method(x int) int { return t.n*x + 1 }\n"
	"type Number interface{ ~int | ~float64 }\n"
	"//go:noinline\n"
	"func Map[A, B Number](in []A, f func(A) B) []B {\n"
	"	var out []B\n"
	"	for _, a := range in {\n"
	"		out = append(out, f(a))\n"
	"	}\n"
	"	return out\n"
	"}\n"
	"func small(x int) int { return x*3 + 1 }\n"
	"func main() {\n"
	"	t := &T{3}\n"
	"	s := Map([]int{1, 2}, func(i int) float64 { return float64(small(i)) })\n"
	"	go func() { println(t.Method(3)) }()\n"
	"	println(s[0])\n"
	"}\n";

/*
 * A name as the table has it: up to Go 1.20 without type arguments, and always with the dot that
 * symbols have not; symbols also have an ending where two functions differ in how they are called.
 */
static void simplify(char *name)
{
	char *end = strstr(name, ".abi"), *to = name;
	int depth = 0;

	if (end)
		*end = '\0';
	for (; *name; name++) {
		depth -= *name == ']';
		if (!strncmp(name, "\u00b7", strlen("\u00b7"))) {
			*to++ = '.';
			name += strlen("\u00b7") - 1;
		} else if (!depth) {
			*to++ = *name;
		}
		depth += *name == '[';
	}
	*to = '\0';
}

static uint64_t offset_of(const struct elf_image *image, uint64_t address)
{
	uint64_t offset;

	cr_assert(elf_image_offset(image, address, &offset), "0x%lx", (unsigned long)address);
	return offset;
}

/* Each line of a file of the fixture. */
static FILE *open_lines(const char *name)
{
	FILE *file = fopen(fixture_path(name), "re");

	cr_assert(file, "%s", name);
	return file;
}

/* All that go's nm says between the two symbols around Go's text. */
static void check_names(const struct elf_image *image, uint64_t *start, uint64_t *end)
{
	struct symbol_table *symbols = load("program");
	FILE *nm = open_lines("nm");
	const struct symbol *symbol;
	unsigned long address;
	char name[1024], own[1024];
	unsigned int nr = 0;

	*start = *end = 0;
	while (fscanf(nm, " %lx %*c %1023[^\n]", &address, name) == 2) {
		if (!strcmp(name, "runtime.etext"))
			*end = address;
		if (!strcmp(name, "runtime.text"))
			*start = address;
		else if (*start && !*end) {
			symbol = symbol_table_find(symbols, offset_of(image, address));
			cr_assert(symbol, "%s", name);
			cr_assert_eq(symbol->offset, offset_of(image, address), "%s", name);
			snprintf(own, sizeof(own), "%s", symbol->name);
			simplify(own);
			simplify(name);
			cr_assert_str_eq(own, name);
			nr++;
		}
	}
	fclose(nm);
	cr_assert(*start && *end);
	cr_assert_gt(nr, 500);
	symbol_table_free(symbols);
}

/*
 * PROGRAM START END STEP: the lines of these addresses, by the reader of Go's own library. Unlike
 * addr2line of Go 1.19 it can be told where the table is, and so reads all kinds of programs.
 */
static const char reader[] =
	"package main\n"
	"import (\"bufio\"; \"bytes\"; \"debug/elf\"; \"debug/gosym\"; \"fmt\"; \"os\"; \"strconv\")\n"
	"func number(i int) uint64 { n, _ := strconv.ParseUint(os.Args[i], 0, 64); return n }\n"
	"func main() {\n"
	"	program, _ := elf.Open(os.Args[1])\n"
	"	var section *elf.Section\n"
	"	for _, name := range []string{\".data.rel.ro\", \".data.rel.ro.gopclntab\", \".gopclntab\"} {\n"
	"		if found := program.Section(name); found != nil { section = found }\n"
	"	}\n"
	"	data, _ := section.Data()\n"
	"	data = data[bytes.Index(data, []byte(\"\\xff\\xff\\xff\\x00\\x00\\x01\\x08\"))-1:]\n"
	"	table, err := gosym.NewTable(nil, gosym.NewLineTable(data, number(2)))\n"
	"	if err != nil { panic(err) }\n"
	"	out := bufio.NewWriter(os.Stdout)\n"
	"	for pc := number(2); pc < number(3); pc += number(4) {\n"
	"		file, line, _ := table.PCToLine(pc)\n"
	"		fmt.Fprintf(out, \"%d %s\\n\", line, file)\n"
	"	}\n"
	"	out.Flush()\n"
	"}\n";

enum { STEP = 3 };

/* At every few bytes the line of what the code was made of, which may have been inlined. */
static void check_lines(const struct elf_image *image, uint64_t start, uint64_t end)
{
	size_t nr = (end - start + STEP - 1) / STEP, i, known = 0;
	uint64_t *places = calloc(nr, sizeof(*places));
	struct source_lines *lines;
	int fd = fixture_open("program"), number;
	struct error err = { 0 };
	char said[1024];
	FILE *file;

	for (i = 0; i < nr; i++)
		places[i] = offset_of(image, start + i * STEP);
	cr_assert_eq(source_lines_load(fd, "/program", "", places, nr, &lines, &err), 0, "%s",
		     err.text);
	fixture_shell("./reader program 0x%lx 0x%lx %d >said", (unsigned long)start,
		      (unsigned long)end, STEP);
	file = open_lines("said");
	for (i = 0; i < nr; i++) {
		*said = '\0';
		cr_assert_geq(fscanf(file, "%d%*[ ]%1023[^\n]", &number, said), 1);
		/* Between functions there is no line. */
		check_line(source_lines_at(lines, i), *said ? said : NULL,
			   *said ? (uint32_t)number : 0);
		known += *said != 0;
	}
	fclose(file);
	cr_assert_gt(known, nr / 2);
	source_lines_free(lines);
	free(places);
	close(fd);
}

static void check_built(const char *source, const char *flags)
{
	struct error err = { 0 };
	struct elf_image image;
	uint64_t start, end;
	int fd;

	fixture_shell("go build %s -o full %s && go build %s -ldflags '-s -w' -o program %s && "
		      "go tool nm -sort address full | grep ' [tT] ' >nm && "
		      "! readelf -SW program | grep -qE ' .(symtab|debug_info) '",
		      flags, source, flags, source);
	fd = fixture_open("program");
	cr_assert_eq(elf_image_open(fd, &image, &err), 0, "%s", err.text);
	check_names(&image, &start, &end);
	check_lines(&image, start, end);
	elf_image_close(&image);
	close(fd);
}

static void set_go(const char *cgo)
{
	static const char *const settings[][2] = { { "GOENV", "off" },
						   { "GOFLAGS", "" },
						   { "GOTOOLCHAIN", "local" },
						   { "GO111MODULE", "off" } };
	char path[4096];
	size_t i;

	for (i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		setenv(settings[i][0], settings[i][1], 1);
	setenv("GOCACHE", fixture_path("cache"), 1);
	setenv("GOPATH", fixture_path("path"), 1);
	setenv("CGO_ENABLED", cgo, 1);
	/* Debian's comes first: a newer one compiles its library, which took 49 s of CPU time, and not 10. */
	snprintf(path, sizeof(path), "/usr/bin:%s", getenv("PATH"));
	setenv("PATH", path, 1);
}

/* With C in it, GNU's linker links it, and puts C's text before and behind Go's. */
Test(go, stripped)
{
	NEED_TOOL("go");
	fixture_write("reader.go", reader);
	fixture_write("main.go", program);
	fixture_write("c.go", "package main\n"
			      "// static int cwork(int x) { return x * 3; }\n"
			      "import \"C\"\n"
			      "func main() { println(C.cwork(3)) }\n");
	set_go("0");
	fixture_shell("go build reader.go");
	check_built("main.go", "");
	check_built("main.go", "-buildmode=pie");
	set_go("1");
	check_built("c.go", "");
	check_built("c.go", "-buildmode=pie");
}
