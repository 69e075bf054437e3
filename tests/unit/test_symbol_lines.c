// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/symbol.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "need.h"
#include "test_symbol_fixture.h"

/* clang-format off */
static const char program[] =
	"#include \"mark.h\"\n"
	"static inline __attribute__((always_inline)) int deep(int x)\n"
	"{\n"
	"	MARK(1);\n"					/* 4 */
	"	return x * 3;\n"
	"}\n"
	"static inline __attribute__((always_inline)) int middle(int x)\n"
	"{\n"
	"	MARK(2);\n"					/* 9 */
	"	{ int y = deep(x); x += y; }\n"
	"	return x;\n"
	"}\n"
	"__attribute__((noinline)) int outer(int x)\n"
	"{\n"
	"	x += middle(x);\n"
	"	MARK(3);\n"					/* 16 */
	"	return x;\n"
	"}\n"
	"int main(int c, char **v) { return outer(c) + !v; }\n";
/* clang-format on */

TestSuite(lines, .init = fixture_begin, .fini = fixture_end);

struct want {
	uint32_t mark;
	uint32_t line; /* 0: unknown */
	const char *function;
	const char *callers; /* "FUNCTION:LINE" of each, from the inside out */
};

/* source is a name, or a path from the test's folder on if it begins with a slash. */
static void check_file(const char *file, const char *source)
{
	const char *base = strrchr(file, '/');

	if (*source == '/')
		cr_assert_str_eq(file, fixture_path(source + 1));
	else
		cr_assert_str_eq(base ? base + 1 : file, source);
}

static void check_callers(const struct source_line *line, const struct want *want,
			  const char *source)
{
	char found[256] = "";
	size_t length = 0;

	for (line = line->caller; line; line = line->caller) {
		cr_assert(line->file);
		check_file(line->file, source);
		length += (size_t)snprintf(found + length, sizeof(found) - length, "%s%s:%u",
					   length ? " " : "", line->function, line->line);
	}
	cr_assert_str_eq(found, want->callers, "MARK(%u)", want->mark);
}

static void check_line(const struct source_line *line, const struct want *want, const char *source)
{
	if (!want->line) {
		cr_assert_null(line->file, "MARK(%u) is in %s", want->mark, line->file);
		cr_assert_null(line->function);
		return;
	}
	cr_assert(line->file, "MARK(%u) has no line", want->mark);
	check_file(line->file, source);
	cr_assert_eq(line->line, want->line, "MARK(%u) is in line %u", want->mark, line->line);
	cr_assert_eq(!line->function, !want->function, "MARK(%u)", want->mark);
	if (want->function)
		cr_assert_str_eq(line->function, want->function);
	check_callers(line, want, source);
}

static int compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

/* Checks all at once, ascending, with an offset before and one behind all text. */
static void check(const char *name, const char *source, const struct want *want, size_t nr)
{
	uint64_t *offsets = calloc(nr + 2, sizeof(*offsets)), *found;
	static const struct want nothing;
	struct source_lines *lines;
	struct error err = { 0 };
	int fd = fixture_open(name);
	uint64_t mark;
	size_t i;

	for (i = 0; i < nr; i++)
		offsets[i] = fixture_mark(name, want[i].mark);
	offsets[nr + 1] = UINT64_MAX;
	qsort(offsets, nr + 2, sizeof(*offsets), compare);
	cr_assert_eq(source_lines_load(fd, fixture_path(name), "", offsets, nr + 2, &lines, &err),
		     0, "%s", err.text);
	for (i = 0; i < nr; i++) {
		mark = fixture_mark(name, want[i].mark);
		found = bsearch(&mark, offsets, nr + 2, sizeof(mark), compare);
		check_line(source_lines_at(lines, (size_t)(found - offsets)), &want[i], source);
	}
	check_line(source_lines_at(lines, 0), &nothing, NULL);
	check_line(source_lines_at(lines, nr + 1), &nothing, NULL);
	source_lines_free(lines);
	free(offsets);
	close(fd);
}

#define CHECK(name, source, ...)                                                                   \
	check(name, source, (const struct want[]){ __VA_ARGS__ },                                  \
	      sizeof((const struct want[]){ __VA_ARGS__ }) / sizeof(struct want))

static void check_program(const char *compiler, const char *flags)
{
	fixture_write("program.c", program);
	fixture_shell("%s -O2 %s -o program program.c", compiler, flags);
	CHECK("program", "program.c", { 1, 4, "deep", "middle:10 outer:15" },
	      { 2, 9, "middle", "outer:15" }, { 3, 16, "outer", "" });
}

Test(lines, dwarf5)
{
	check_program("gcc", "-gdwarf-5");
}

Test(lines, dwarf4)
{
	check_program("gcc", "-gdwarf-4");
}

Test(lines, compressed)
{
	check_program("gcc", "-g -gz");
	check_program("gcc", "-gdwarf-4 -gz=zlib-gnu");
}

Test(lines, linked)
{
	check_program("gcc", "-g -static");
	check_program("gcc", "-g -fno-pie -no-pie -Wl,-Ttext-segment=0x7000000");
	check_program("gcc", "-g -fPIC -shared");
	check_program("gcc", "-g -ffunction-sections -Wl,--gc-sections");
	check_program("gcc", "-g -flto");
}

/* A source in a folder below the compiler's, of which libdw gives the path from there on only. */
Test(lines, below_the_folder)
{
	fixture_shell("mkdir -p src");
	fixture_write("src/program.c", program);
	fixture_write("src/mark.h", "#include \"../mark.h\"\n");
	fixture_shell("gcc -g -O2 -o program src/program.c");
	CHECK("program", "/src/program.c", { 1, 4, "deep", "middle:10 outer:15" },
	      { 2, 9, "middle", "outer:15" }, { 3, 16, "outer", "" });
}

/* clang writes neither .debug_aranges nor DW_AT_sibling. */
Test(lines, clang)
{
	NEED_TOOL("clang");
	check_program("clang", "-g");
	check_program("clang", "-gdwarf-4");
}

Test(lines, none)
{
	fixture_write("program.c", program);
	fixture_shell("gcc -O2 -o program program.c");
	CHECK("program", NULL, { 1, 0, NULL, "" }, { 3, 0, NULL, "" });
}

Test(lines, no_offsets)
{
	struct source_lines *lines;
	int fd;

	fixture_write("program.c", program);
	fixture_shell("gcc -g -o program program.c");
	fd = fixture_open("program");
	cr_assert_eq(source_lines_load(fd, "/program", "", NULL, 0, &lines, NULL), 0);
	source_lines_free(lines);
	source_lines_free(NULL);
	close(fd);
}

/* Without its .dwo a skeleton still has lines. */
Test(lines, split)
{
	check_program("gcc", "-g -gsplit-dwarf");
	fixture_shell("rm *.dwo");
	CHECK("program", "program.c", { 1, 4, NULL, "" }, { 2, 9, NULL, "" }, { 3, 16, NULL, "" });
}

/* What dwz moved from two programs into one file, which they name by this path. */
static void check_shared(const char *path)
{
	fixture_shell("gcc -gdwarf-4 -O2 -o program program.c && cp program other && "
		      "dwz -m shared -M %s program other && "
		      "readelf -S program | grep -q gnu_debugaltlink",
		      path);
	CHECK("program", "program.c", { 1, 4, "deep", "middle:10 outer:15" },
	      { 2, 9, "middle", "outer:15" }, { 3, 16, "outer", "" });
}

Test(lines, shared)
{
	NEED_TOOL("dwz");
	fixture_write("program.c", program);
	check_shared("shared");
	check_shared("$PWD/shared");
	fixture_shell("rm shared");
	CHECK("program", "program.c", { 3, 16, NULL, "" });
}

/* A nested function is not inside the text of the outer one. */
Test(lines, nested)
{
	fixture_write("nested.c", "#include \"mark.h\"\n"
				  "int main(int c, char **v)\n"
				  "{\n"
				  "	__attribute__((noinline)) int inside(int x)\n"
				  "	{\n"
				  "		MARK(1);\n"
				  "		return x + c;\n"
				  "	}\n"
				  "	return inside(1) + !v;\n"
				  "}\n");
	fixture_shell("gcc -g -O1 -o nested nested.c");
	CHECK("nested", "nested.c", { 1, 6, "inside", "" });
}

Test(lines, several_units)
{
	fixture_write("a.c", "#include \"mark.h\"\n"
			     "int main(void) { MARK(1); return 0; }\n");
	fixture_write("b.c",
		      "#include \"mark.h\"\n\n"
		      "void b(void) { MARK(2); }\n"
		      "__attribute__((section(\".text.startup\"))) void c(void) { MARK(3); }\n");
	fixture_shell("gcc -g -O1 -c a.c b.c && gcc -o program a.o b.o");
	CHECK("program", "a.c", { 1, 2, "main", "" });
	CHECK("program", "b.c", { 2, 3, "b", "" }, { 3, 4, "c", "" });
}

Test(lines, assembly)
{
	fixture_write("bare.s", ".text\n"
				".globl f\n"
				".type f, @function\n"
				"f: nop\n"
				".byte 0x01, 0, 0, 0, 0x1e, 0xab, 0xa1, 0x5c\n"
				"nop\n"
				".size f, . - f\n");
	fixture_shell("gcc -g -shared -nostdlib -o bare bare.s");
	/* The assembler gives lines only to instructions. */
	CHECK("bare", "bare.s", { 1, 4, "f", "" });
}

Test(lines, cplusplus)
{
	fixture_write("program.cc", "#include \"mark.h\"\n"
				    "namespace ns {\n"
				    "template <typename T> struct box {\n"
				    "	T value;\n"
				    "	__attribute__((always_inline)) T get() const\n"
				    "	{\n"
				    "		MARK(1);\n"
				    "		return value;\n"
				    "	}\n"
				    "};\n"
				    "__attribute__((noinline)) int work(int x)\n"
				    "{\n"
				    "	MARK(2);\n"
				    "	return box<int>{ x }.get();\n"
				    "}\n"
				    "}\n"
				    "int main(int c, char **) { return ns::work(c); }\n");
	fixture_shell("g++ -g -O2 -o program program.cc");
	CHECK("program", "program.cc", { 1, 7, "ns::box<int>::get() const", "ns::work(int):14" },
	      { 2, 13, "ns::work(int)", "" });
}
