// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Files made to harm whoever reads their names: none takes a significant amount of memory or time.
 */
#include "symbol/symbol.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "hostile.h"
#include "elf/elf_image.h"
#include "elf/mapped_file.h"
#include "naming/allowance.h"
#include "naming/functions.h"
#include "test_symbol_fixture.h"

/* How much reading one may add to the memory of the test. */
#define SPENT_KIB (128L << 10)

/* If something asks for all the memory there is, only this test fails. */
#define ADDRESSES (64UL << 30)
#define DATA (1UL << 30)

static const char program[] = "#include \"mark.h\"\n"
			      "int spin(int x) { MARK(1); return x * 3; }\n";

static void setup(void)
{
	const struct rlimit addresses = { ADDRESSES, ADDRESSES }, data = { DATA, DATA };

	fixture_begin();
	fixture_write("program.c", program);
	fixture_shell("gcc -g -O1 -shared -fPIC -Wl,--build-id=none -o base program.c");
	setrlimit(RLIMIT_AS, &addresses);
	setrlimit(RLIMIT_DATA, &data);
}

TestSuite(hostile, .init = setup, .fini = fixture_end, .timeout = 20);

/* Why there were no source lines. */
static struct {
	int code;
	struct error why;
} no_lines;

static long memory_peak_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

/* Returns 0, or the error with which the file's names are refused. */
static int read_all(enum hostile_kind kind, struct symbol_table **table, struct error *err)
{
	uint64_t offset = fixture_mark("base", 1);
	char *base = strdup(fixture_path("base")), *folder = strdup(fixture_path("."));
	struct source_lines *lines;
	long before;
	int fd, code;

	hostile_make(base, folder, kind);
	free(base);
	free(folder);
	before = memory_peak_kib();
	fd = fixture_open(hostile_name(kind));
	code = symbol_table_load_elf(fd, fixture_path(hostile_name(kind)), "", NULL, NULL, table,
				     err);
	no_lines.code = source_lines_load(fd, fixture_path(hostile_name(kind)), "", &offset, 1,
					  &lines, &no_lines.why);
	if (!no_lines.code)
		source_lines_free(lines);
	close(fd);
	cr_assert_lt(memory_peak_kib() - before, SPENT_KIB);
	return code;
}

static void check_refused(enum hostile_kind kind, int code, const char *why)
{
	struct symbol_table *table = NULL;
	struct error err = { 0 };

	cr_assert_eq(read_all(kind, &table, &err), code, "%s", err.text);
	cr_assert(strstr(err.text, why), "%s", err.text);
}

static void check_named(enum hostile_kind kind, const char *name)
{
	const struct symbol *symbol;
	struct symbol_table *table;
	struct error err = { 0 };

	cr_assert_eq(read_all(kind, &table, &err), 0, "%s", err.text);
	symbol = symbol_table_find(table, fixture_mark("base", 1));
	cr_assert(symbol);
	cr_assert_str_eq(symbol->name, name);
	symbol_table_free(table);
}

Test(hostile, segments)
{
	check_refused(HOSTILE_SEGMENTS, -E2BIG,
		      "ELF file: 100000000 program headers, more than are read");
}

Test(hostile, tables)
{
	check_refused(HOSTILE_TABLES, -E2BIG,
		      "ELF file: 2 symbol tables of a kind, more than are read");
}

Test(hostile, symbols)
{
	check_refused(HOSTILE_SYMBOLS, -E2BIG, "ELF file: 200000000 symbols, more than are read");
}

/* 64 GB, if the names were copied as they are. */
Test(hostile, names)
{
	check_named(HOSTILE_NAMES, "spin");
}

/* The names that it exports are in the file itself. */
Test(hostile, link)
{
	check_named(HOSTILE_LINK, "spin");
}

Test(hostile, packed)
{
	check_named(HOSTILE_PACKED, "spin");
	cr_assert_eq(no_lines.code, -E2BIG);
	cr_assert(
		strstr(no_lines.why.text, ": ELF file: compressed sections of more than 1024 MiB"));
}

Test(hostile, endless)
{
	check_refused(HOSTILE_ENDLESS, -EIO, "ELF file: names of sections without an end");
}

Test(hostile, notes)
{
	check_refused(HOSTILE_NOTES, -E2BIG, " bytes of notes, more than are read");
}

/* libelf would copy them, one after the other. */
Test(hostile, copied)
{
	check_refused(HOSTILE_COPIED, -E2BIG,
		      "ELF file: 1200000000 bytes of misaligned sections, more than are read");
}

/* A reader would reject the whole profile in which one file has such text. */
Test(hostile, beyond)
{
	struct elf_facts facts;
	struct error err = { 0 };
	int fd;

	check_named(HOSTILE_BEYOND, "spin");
	fd = fixture_open(hostile_name(HOSTILE_BEYOND));
	cr_assert_eq(elf_facts_read(fd, &facts, &err), -EIO);
	cr_assert_str_eq(err.text, "ELF file: its text ends above 2^64");
	close(fd);
}

Test(hostile, cut)
{
	struct symbol_table *table;

	if (!read_all(HOSTILE_CUT, &table, NULL))
		symbol_table_free(table);
}

/* Checks the line and function of MARK(1) of a program; function NULL: unknown. */
static void check_line(const char *name, uint32_t line, const char *function)
{
	uint64_t offset = fixture_mark(name, 1);
	const struct source_line *found;
	struct source_lines *lines;
	struct error err = { 0 };
	int fd = fixture_open(name);

	cr_assert_eq(source_lines_load(fd, fixture_path(name), "", &offset, 1, &lines, &err), 0,
		     "%s", err.text);
	found = source_lines_at(lines, 0);
	cr_assert_eq(found->line, line);
	if (function)
		cr_assert_str_eq(found->function, function);
	else
		cr_assert_null(found->function);
	source_lines_free(lines);
	close(fd);
}

/* A split unit is read only if nobody else can replace the file, and if it is one. */
Test(hostile, split_units)
{
	fixture_shell("gcc -g -O1 -gsplit-dwarf -shared -fPIC -o split program.c");
	check_line("split", 2, "spin");
	fixture_shell("chmod 777 .");
	check_line("split", 2, NULL);
	fixture_shell("chmod 755 . && chmod 666 *.dwo");
	check_line("split", 2, NULL);
	fixture_shell("rm *.dwo && mkfifo split-program.dwo");
	check_line("split", 2, NULL);
}

/* A file that another user made cannot make us open other files. */
Test(hostile, split_units_of_another)
{
	if (geteuid())
		cr_skip_test("root alone can give a file away");
	fixture_shell(
		"gcc -g -O1 -gsplit-dwarf -shared -fPIC -o split program.c && chown 65534 split");
	unsetenv("SUDO_UID");
	check_line("split", 2, NULL);
	/* The user who called us through sudo is trusted like ourselves. */
	setenv("SUDO_UID", "65534", 1);
	check_line("split", 2, "spin");
}

Test(hostile, shared_fifo)
{
	fixture_shell("mkfifo fifo && printf '%%s\\0aaaaaaaaaaaaaaaaaaaa' $PWD/fifo > alt && "
		      "objcopy --add-section .gnu_debugaltlink=alt base shared");
	check_line("shared", 2, "spin");
}

/* A unit whose lines claim to take gigabytes; libdw takes a hundred bytes for each. */
Test(hostile, line_table)
{
	uint64_t offset = fixture_mark("base", 1);
	struct source_lines *lines;
	struct error err = { 0 };
	int fd;

	fixture_shell("{ printf '\\0\\0\\0\\100' && head -c 64 /dev/zero; } >lines && "
		      "objcopy --update-section .debug_line=lines base table");
	fd = fixture_open("table");
	cr_assert_eq(source_lines_load(fd, "/table", "", &offset, 1, &lines, &err), -E2BIG);
	cr_assert_str_eq(err.text,
			 "/table: debug information with a line table of 1073741824 bytes");
	close(fd);
}

/* A folder name of 2 MB and 380,000 files in it: libdw would join them to 760 GB. */
Test(hostile, line_folders)
{
	uint64_t offset = fixture_mark("base", 1);
	struct source_lines *lines;
	struct error err = { 0 };
	const struct rlimit limit = { 1UL << 29, 1UL << 29 };
	long before;
	int fd;

	fixture_shell("perl -e 'print pack(\"VvVC*\", 3900027, 4, 3900021, 1, 1, 1, 251, 14, 13, "
		      "0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1), \"a\" x 2000000, \"\\0\\0\", "
		      "\"b\\0\\1\\0\\0\" x 380000, \"\\0\"' >lines && "
		      "objcopy --update-section .debug_line=lines base folders");
	/* As in a reader. */
	cr_assert_eq(setrlimit(RLIMIT_DATA, &limit), 0);
	before = memory_peak_kib();
	fd = fixture_open("folders");
	cr_assert_eq(source_lines_load(fd, "/folders", "", &offset, 1, &lines, &err), -E2BIG);
	cr_assert_str_eq(err.text, "/folders: debug information that takes more memory than it "
				   "may");
	cr_assert_lt(memory_peak_kib() - before, 640L << 10);
	close(fd);
}

/* The file's owner may truncate it or write to it at any time. */
Test(hostile, changes)
{
	int fd = memfd_create("file", MFD_CLOEXEC);
	const off_t page = sysconf(_SC_PAGESIZE);
	struct mapped_file file;

	cr_assert_eq(ftruncate(fd, 5 * page), 0);
	cr_assert_eq(pwrite(fd, "checked", 7, 0), 7);
	cr_assert_eq(pwrite(fd, "unchecked", 9, 3 * page), 9);
	cr_assert_eq(mapped_file_open(fd, &file), 0);
	cr_assert_eq(mapped_file_own(&file, 2, 3), 0);
	cr_assert_eq(file.bytes[5 * page], 0);
	cr_assert_eq(pwrite(fd, "changed", 7, 0), 7);
	cr_assert(!memcmp(file.bytes, "checked", 7));
	cr_assert(!memcmp(file.bytes + 3 * page, "unchecked", 9));
	cr_assert_eq(ftruncate(fd, 0), 0);
	cr_assert(!memcmp(file.bytes, "checked", 7));
	cr_assert_eq(file.bytes[3 * page], 0);
	cr_assert_eq(mapped_file_own(&file, page, 3 * page), 0);
	mapped_file_close(&file);
	mapped_file_close(&file);
	close(fd);
}

static int open_hostile(void *ctx, uint32_t object, char *root, size_t root_size)
{
	const struct profile *profile = ctx;

	snprintf(root, root_size, "%s", "");
	return fixture_open(strrchr(profile->objects[object].path, '/') + 1);
}

/* Adds an object to the profile, with 64 bins around the function of its file. */
static void add_object(struct profile *profile, struct profile_bin *bin, const char *name)
{
	uint32_t id = (uint32_t)profile->nr_objects++;
	struct profile_histogram *histogram = &profile->histograms[profile->nr_histograms++];

	profile->objects[id] =
		(struct profile_object){ .kind = PROFILE_FILE, .path = strdup(fixture_path(name)) };
	*bin = (struct profile_bin){ .index = 0, .count = 10 };
	*histogram = (struct profile_histogram){ .object = id,
						 .pid = -1,
						 .offset = fixture_mark("base", 1),
						 .bytes_per_bin = 1,
						 .bins = bin,
						 .nr_bins = 1 };
}

/* Unreadable files have no names, and one note for all says so; the others have theirs. */
Test(hostile, profile)
{
	struct profile_object objects[3] = { 0 };
	struct profile_histogram histograms[3] = { 0 };
	struct profile_bin bins[3];
	struct profile profile = { .objects = objects, .histograms = histograms };
	const struct object_opener opener = { .open = open_hostile, .ctx = &profile };
	char *base = strdup(fixture_path("base")), *folder = strdup(fixture_path("."));
	char note[512];
	struct error err = { 0 };

	hostile_make(base, folder, HOSTILE_TABLES);
	hostile_make(base, folder, HOSTILE_SYMBOLS);
	add_object(&profile, &bins[0], "tables");
	add_object(&profile, &bins[1], "base");
	add_object(&profile, &bins[2], "symbols");
	cr_assert_eq(functions_resolve(&profile, &opener, &err), 0, "%s", err.text);
	cr_assert_eq(profile.nr_functions, 3);
	cr_assert(strstr(profile.functions[0].name, "tables"));
	cr_assert_str_eq(profile.functions[1].name, "spin");
	cr_assert(strstr(profile.functions[2].name, "symbols"));
	cr_assert_eq(profile.nr_notes, 2);
	snprintf(note, sizeof(note),
		 "no names of %s: ELF file: 2 symbol tables of a kind, more than "
		 "are read; nor of 1 more",
		 objects[0].path);
	cr_assert_str_eq(profile.notes[0], note);
	free(base);
	free(folder);
}

/*
 * Thousands of files of one user, each of which takes a second: others' files still get their
 * names.
 */
Test(hostile, owner_had_theirs)
{
	struct profile_object objects[3] = { 0 };
	struct profile_histogram histograms[3] = { 0 };
	struct profile_bin bins[3];
	struct profile profile = { .objects = objects, .histograms = histograms };
	struct allowance allowance = { .seconds = 1 };
	const struct object_opener opener = { .open = open_hostile,
					      .ctx = &profile,
					      .allowance = &allowance };
	struct error err = { 0 };
	char note[512];

	if (geteuid()) {
		cr_skip_test("root alone can give a file away");
		return;
	}
	unsetenv("SUDO_UID");
	fixture_shell(
		"cp base theirs && chown 65534 theirs && cp base honest && chown 65533 honest");
	add_object(&profile, &bins[0], "theirs");
	add_object(&profile, &bins[1], "base");
	add_object(&profile, &bins[2], "honest");
	allowance_spend(&allowance, 65534, 1000000000);
	cr_assert_eq(functions_resolve(&profile, &opener, &err), 0, "%s", err.text);
	cr_assert_str_eq(profile.functions[0].name, "theirs");
	cr_assert_str_eq(profile.functions[1].name, "spin");
	cr_assert_str_eq(profile.functions[2].name, "spin");
	cr_assert_geq(profile.nr_notes, 1);
	snprintf(note, sizeof(note),
		 "no names of %s: files of user 65534 have had their 1 seconds of CPU time",
		 objects[0].path);
	cr_assert_str_eq(profile.notes[0], note);
	cr_assert_gt(allowance.spent_ns, 1000000000);
	/* Subordinate uids together get no more than the total. */
	allowance_spend(&allowance, 65532, ALLOWANCE_OWNERS * 1000000000ULL);
	cr_assert_eq(functions_resolve(&profile, &opener, &err), 0, "%s", err.text);
	cr_assert_str_eq(profile.functions[1].name, "spin");
	cr_assert_str_eq(profile.functions[2].name, "honest");
	allowance_free(&allowance);
}
