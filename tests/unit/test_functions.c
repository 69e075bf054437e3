// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "naming/nameless.h"
#include "naming/functions.h"

#include <criterion/criterion.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"
#include "need.h"
#include "symbol/symbol.h"
#include "test_symbol_fixture.h"

/* An object's symbols are a perf map; files are the fixture's. */
struct source {
	const char *map;
	const char *file;
};

static const struct source *sources;
static unsigned int opened;
static uint32_t opened_last;

static int open_source(void *ctx, uint32_t object, char *root, size_t root_size)
{
	const struct source *source = &((const struct source *)ctx)[object];
	int fd;

	opened++;
	opened_last = object;
	snprintf(root, root_size, "%s", "");
	if (source->file)
		return fixture_open(source->file);
	if (!source->map)
		return -ENOENT;
	fd = memfd_create("map", MFD_CLOEXEC);
	cr_assert_eq(write(fd, source->map, strlen(source->map)), (ssize_t)strlen(source->map));
	return fd;
}

static struct profile *profile;

static uint32_t add_object(enum profile_object_kind kind, const char *path)
{
	struct profile_object *object;

	profile->objects =
		realloc(profile->objects, (profile->nr_objects + 1) * sizeof(*profile->objects));
	object = &profile->objects[profile->nr_objects];
	memset(object, 0, sizeof(*object));
	object->kind = kind;
	object->path = path ? strdup(path) : NULL;
	return (uint32_t)profile->nr_objects++;
}

static struct profile_histogram *add_histogram(uint32_t object, uint64_t offset, uint64_t bytes)
{
	struct profile_histogram *histogram;

	profile->histograms = realloc(profile->histograms,
				      (profile->nr_histograms + 1) * sizeof(*profile->histograms));
	histogram = &profile->histograms[profile->nr_histograms++];
	memset(histogram, 0, sizeof(*histogram));
	histogram->object = object;
	histogram->pid = -1;
	histogram->offset = offset;
	histogram->bytes_per_bin = bytes;
	return histogram;
}

static void add_bin(uint64_t index, uint64_t count)
{
	struct profile_histogram *histogram = &profile->histograms[profile->nr_histograms - 1];

	histogram->bins =
		realloc(histogram->bins, (histogram->nr_bins + 1) * sizeof(*histogram->bins));
	histogram->bins[histogram->nr_bins++] = (struct profile_bin){ index, count };
}

static void check_sum(void)
{
	uint64_t binned = 0, named = 0;
	size_t i;

	for (i = 0; i < profile->nr_histograms; i++)
		binned += profile_histogram_ticks(&profile->histograms[i]);
	for (i = 0; i < profile->nr_functions; i++)
		named += profile->functions[i].ticks;
	cr_assert_eq(binned, named, "%" PRIu64 " in bins, %" PRIu64 " in functions", binned, named);
}

static void check_resolved(void)
{
	struct object_opener opener = { .open = open_source, .ctx = (void *)sources };
	struct error err = { 0 };

	cr_assert_eq(functions_resolve(profile, sources ? &opener : NULL, &err), 0, "%s", err.text);
	check_sum();
}

static void check_first(const char *name, uint64_t offset)
{
	const struct profile_function *first;

	check_resolved();
	cr_assert_eq(profile->nr_functions, 1);
	first = profile->functions;
	cr_assert_str_eq(first->name, name);
	cr_assert(offset >= first->offset && offset - first->offset < first->size);
}

static void check(size_t nr, const struct profile_function *want)
{
	size_t i;

	check_resolved();
	for (i = 0; i < nr && i < profile->nr_functions; i++) {
		const struct profile_function *got = &profile->functions[i];

		cr_assert_str_eq(got->name, want[i].name);
		cr_assert_eq(got->object, want[i].object, "%s", got->name);
		cr_assert_eq(got->offset, want[i].offset, "%s", got->name);
		cr_assert_eq(got->size, want[i].size, "%s", got->name);
		cr_assert_eq(got->ticks, want[i].ticks, "%s: %" PRIu64, got->name, got->ticks);
	}
	cr_assert_eq(profile->nr_functions, nr);
}

#define CHECK(...)                                                                                 \
	check(sizeof((const struct profile_function[]){ __VA_ARGS__ }) /                           \
		      sizeof(struct profile_function),                                             \
	      (const struct profile_function[]){ __VA_ARGS__ })

static void setup(void)
{
	fixture_begin();
	profile = profile_new();
	cr_assert(profile);
	sources = NULL;
	opened = 0;
}

static void teardown(void)
{
	profile_free(profile);
	fixture_end();
}

TestSuite(functions, .init = setup, .fini = teardown);

static const struct source one_map[] = { { .map = "1000 20 a\n"
						  "1020 10 b\n"
						  "1030 4 tiny\n"
						  "1040 1000 big\n"
						  "2050 5 after\n" } };

Test(functions, nothing)
{
	check(0, NULL);
	add_object(PROFILE_FILE, "/bin/x");
	add_histogram(0, 0, 1);
	sources = one_map;
	check(0, NULL);
	cr_assert_eq(opened, 0);
}

Test(functions, single_bytes)
{
	sources = one_map;
	add_object(PROFILE_JIT, "/run/jit");
	add_histogram(0, 0x1000, 1);
	add_bin(0, 1);
	add_bin(0x1f, 2);
	add_bin(0x20, 10);
	add_bin(0x33, 5);
	add_bin(0x34, 7);
	add_bin(0x35, 7);
	CHECK({ 0, "jit+0x1034..0x1035", 0x1034, 2, 14 }, { 0, "b", 0x1020, 0x10, 10 },
	      { 0, "tiny", 0x1030, 4, 5 }, { 0, "a", 0x1000, 0x20, 3 });
}

/* A wide bin goes to a function only if it touches no other one and little unknown text. */
Test(functions, wide_bins)
{
	sources = one_map;
	add_object(PROFILE_JIT, "jit");
	add_histogram(0, 0x1000, 0x20);
	add_bin(0, 1); /* exactly a */
	add_bin(1, 2); /* b and tiny */
	add_bin(2, 4); /* in big */
	add_bin(0x81, 8); /* big's last 0x20 bytes */
	add_bin(0x82, 16); /* 5 bytes of after in 0x20 */
	add_bin(0x83, 32); /* nothing */
	CHECK({ 0, "jit+0x2060..0x207f", 0x2060, 0x20, 32 }, { 0, "jit+0x2040", 0x2040, 0x20, 16 },
	      { 0, "big", 0x1040, 0x1000, 12 }, { 0, "jit+0x1020", 0x1020, 0x20, 2 },
	      { 0, "a", 0x1000, 0x20, 1 });
}

Test(functions, padding)
{
	sources = one_map;
	add_object(PROFILE_JIT, "jit");
	add_histogram(0, 0x1030, 0x10);
	add_bin(0, 3); /* 4 bytes of tiny, 12 of padding */
	CHECK({ 0, "tiny", 0x1030, 4, 3 });
}

/* Different targets, bins and starts give one function. */
Test(functions, several_histograms)
{
	static const struct source maps[] = { { .map = "1000 100 f\n" },
					      { .map = "1000 100 f\n" } };

	sources = maps;
	add_object(PROFILE_JIT, "one");
	add_object(PROFILE_JIT, "two");
	add_histogram(0, 0x1000, 1);
	add_bin(3, 1);
	add_bin(0x200, 100);
	add_histogram(1, 0x1000, 1);
	add_bin(3, 1000);
	add_histogram(0, 0, 0x40);
	add_bin(0x40, 10);
	add_histogram(0, 0x1100, 1);
	add_bin(0x100, 10000);
	CHECK({ 0, "one+0x1200", 0x1200, 1, 10100 }, { 1, "f", 0x1000, 0x100, 1000 },
	      { 0, "f", 0x1000, 0x100, 11 });
	cr_assert_eq(opened, 2);
	/* Resolved again, which replaces the earlier functions. */
	CHECK({ 0, "one+0x1200", 0x1200, 1, 10100 }, { 1, "f", 0x1000, 0x100, 1000 },
	      { 0, "f", 0x1000, 0x100, 11 });
}

Test(functions, unreadable)
{
	static const struct source none[] = { { NULL, NULL },
					      { .file = "mark.h" },
					      { NULL, NULL } };

	sources = none;
	add_object(PROFILE_FILE, "/usr/lib/libgone.so");
	add_object(PROFILE_FILE, "/usr/lib/no.elf");
	add_object(PROFILE_MEMORY, NULL);
	add_histogram(0, 0x100, 16);
	add_bin(1, 3);
	add_histogram(1, 0x100, 16);
	add_bin(1, 2);
	add_histogram(2, 0x7f0000, 16);
	add_bin(1, 1);
	CHECK({ 0, "libgone.so", 0x110, 16, 3 }, { 1, "no.elf", 0x110, 16, 2 },
	      { 2, "memory", 0x7f0010, 16, 1 });
	cr_assert_eq(opened, 2);
	sources = NULL;
	CHECK({ 0, "libgone.so", 0x110, 16, 3 }, { 1, "no.elf", 0x110, 16, 2 },
	      { 2, "memory", 0x7f0010, 16, 1 });
}

/*
 * Text without names is one row from symbol to symbol, within its segment; the notes say what to
 * do.
 */
Test(functions, stretches)
{
	static const struct source given[] = { { .map = "1000 10 f\n" },
					       { NULL, NULL },
					       { .file = "program" } };
	struct profile_text text[] = { { 0x1000, 0x401000, 0x800 }, { 0x1800, 0x402000, 0x100 } };

	fixture_write("program.s", ".text\n.globl _start\n_start: .fill 4096\n");
	fixture_shell("gcc -nostdlib -static -s -o program program.s");
	sources = given;
	add_object(PROFILE_JIT, "[node:7]");
	add_histogram(0, 0x1000, 4);
	add_bin(0, 1);
	add_bin(4, 100);
	add_bin(0x400, 30);
	add_object(PROFILE_JIT, "[java:8]");
	add_histogram(1, 0, 4);
	add_bin(0x100, 20);
	add_bin(0x1ff, 20);
	add_object(PROFILE_FILE, "/opt/program");
	profile->objects[2].text = memcpy(malloc(sizeof(text)), text, sizeof(text));
	profile->objects[2].nr_text = 2;
	profile->objects[2].build_id = strdup("abcd");
	add_histogram(2, 0x1000, 4);
	add_bin(1, 7);
	add_bin(0x101, 3);
	add_bin(0x201, 20);
	CHECK({ 0, "[node:7]+0x1010..0x2003", 0x1010, 0xff4, 130 },
	      { 1, "[java:8]", 0x400, 0x400, 40 },
	      { 2, "program+0x1800..0x18ff", 0x1800, 0x100, 20 },
	      { 2, "program+0x1000..0x17ff", 0x1000, 0x800, 10 }, { 0, "f", 0x1000, 0x10, 1 });
	cr_assert_eq(profile->nr_notes, 2);
	cr_expect_str_eq(profile->notes[0],
			 "no names of JIT code of [node:7] and 1 other, with 84.6% of the ticks: "
			 "node --perf-basic-prof writes them");
	cr_expect_str_eq(
		profile->notes[1],
		"no names of some functions of /opt/program, with 14.9% of the ticks: install its debug "
		"symbols, or build it with them");
}

/* Who attaches to a JVM reads a map that it writes while it runs. */
Test(functions, java_without_names)
{
	struct nameless nameless = { 0 };

	add_object(PROFILE_JIT, "[java:8]");
	nameless_add(&nameless, profile, 0, 100, 100);
	cr_assert_eq(nameless_note(&nameless, false, profile), 0);
	cr_assert_eq(profile->nr_notes, 1);
	cr_expect_str_eq(profile->notes[0],
			 "no names of JIT code of [java:8], with 100.0% of the ticks: jcmd 8 "
			 "Compiler.perfmap before the profile ends, or java "
			 "-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit, writes them");
}

/* Names that are missing from a tenth of the ticks or less are not worth a line. */
Test(functions, few_nameless)
{
	static const struct source given[] = { { .map = "1000 10 f\n" } };

	sources = given;
	add_object(PROFILE_JIT, "[node:7]");
	add_histogram(0, 0x1000, 4);
	add_bin(0, 90);
	add_bin(4, 10);
	CHECK({ 0, "f", 0x1000, 0x10, 90 }, { 0, "[node:7]+0x1010..0x1013", 0x1010, 4, 10 });
	cr_expect_eq(profile->nr_notes, 0);
	profile->histograms[0].bins[1].count = 11;
	CHECK({ 0, "f", 0x1000, 0x10, 90 }, { 0, "[node:7]+0x1010..0x1013", 0x1010, 4, 11 });
	cr_expect_eq(profile->nr_notes, 1);
}

/* The same share of a few ticks. */
Test(functions, few_nameless_of_few)
{
	struct nameless nameless = { 0 };

	add_object(PROFILE_FILE, "/opt/program");
	nameless_add(&nameless, profile, 0, 84, 2);
	cr_assert_eq(nameless_note(&nameless, false, profile), 0);
	cr_expect_eq(profile->nr_notes, 0);
	nameless_add(&nameless, profile, 0, 0, 7);
	cr_assert_eq(nameless_note(&nameless, false, profile), 0);
	cr_expect_eq(profile->nr_notes, 1);
}

/* Symbols cannot name a bin of several functions; another note says why the bin is so wide. */
Test(functions, wide_bins_lack_no_symbols)
{
	static const struct source given[] = { { .map = "1000 10 f\n1010 10 g\n2000 10 h\n" } };

	sources = given;
	add_object(PROFILE_JIT, "[node:7]");
	add_histogram(0, 0x1000, 1024);
	add_bin(0, 90);
	add_bin(4, 60);
	CHECK({ 0, "[node:7]+0x1000", 0x1000, 1024, 90 },
	      { 0, "[node:7]+0x2000", 0x2000, 1024, 60 });
	cr_expect_eq(profile->nr_notes, 0);
}

/*
 * What hand-written assembly has no symbols for is many functions: not one row that looks like one
 * of them, but one for each 4 KiB, of which the names and extents are the same whatever was hit.
 */
Test(functions, parts)
{
	static const struct source given[] = { { .file = "program" } };
	struct profile_text text = { 0x1000, 0x401000, 0x9000 };

	fixture_write("program.s", ".text\n.globl f\nf: .fill 0x8010\n"
				   ".globl g\n.type g, @function\ng: .fill 0x10\n.size g, 0x10\n");
	fixture_shell("gcc -nostdlib -static -Wl,-e,f,-z,separate-code,-z,max-page-size=0x1000 "
		      "-o program program.s");
	sources = given;
	add_object(PROFILE_FILE, "/opt/program");
	profile->objects[0].text = memcpy(malloc(sizeof(text)), &text, sizeof(text));
	profile->objects[0].nr_text = 1;
	add_histogram(0, 0x1000, 1);
	add_bin(0xfff, 1);
	add_bin(0x1004, 20);
	add_bin(0x1ff0, 300);
	add_bin(0x2004, 4000);
	add_bin(0x8004, 50000);
	add_bin(0x8018, 600000);
	CHECK({ 0, "g", 0x9010, 0x10, 600000 },
	      { 0, "program+0x9000..0x900f", 0x9000, 0x10, 50000 },
	      { 0, "program+0x3000..0x3fff", 0x3000, 0x1000, 4000 },
	      { 0, "program+0x2000..0x2fff", 0x2000, 0x1000, 320 }, { 0, "f", 0x1000, 0x1000, 1 });
	/* A bin that reaches into the next part is a place of its own. */
	add_histogram(0, 0x1000, 0x2000);
	add_bin(2, 7000000);
	check_resolved();
	cr_assert_str_eq(profile->functions[0].name, "program+0x5000");
	cr_assert_eq(profile->functions[0].size, 0x2000);
}

static bool is_second(void *ctx, uint32_t object)
{
	(void)ctx;
	return object == 1;
}

/* What is trusted has its names even if the time for names is over with the next file. */
Test(functions, trusted_files_first)
{
	const struct source two[] = { { .map = "1000 10 first\n" }, { .map = "1000 10 second\n" } };
	struct object_opener opener = { .open = open_source,
					.is_trusted = is_second,
					.ctx = (void *)(uintptr_t)two };
	size_t i;

	for (i = 0; i < 2; i++) {
		add_histogram(add_object(PROFILE_JIT, "[jit:1]"), 0x1000, 4);
		add_bin(0, 1);
	}
	opened = 0;
	cr_assert_eq(functions_resolve(profile, &opener, NULL), 0);
	cr_expect_eq(opened, 2);
	cr_expect_eq(opened_last, 0);
	cr_expect_eq(profile->nr_functions, 2);
}

static int open_places(void *ctx, uint32_t object, uint64_t *limit)
{
	static const char places[] = "10000000001000 10 was\n";
	int fd = memfd_create("places", MFD_CLOEXEC);

	cr_assert_eq(write(fd, places, sizeof(places) - 1), (ssize_t)sizeof(places) - 1);
	*limit = strlen(((const struct source *)ctx)[object].map) / 2;
	return fd;
}

/*
 * What was added to a map later is code that came later; what it said before has a place of its
 * own.
 */
Test(functions, map_that_has_grown)
{
	static const struct source maps[] = { { .map = "1000 10 is\n1000 10 no\n" } };
	struct object_opener opener = { .open = open_source,
					.open_places = open_places,
					.ctx = (void *)maps };
	struct error err = { 0 };

	add_object(PROFILE_JIT, "[node:7]");
	add_histogram(0, 0x1000, 1);
	add_bin(0, 2);
	add_histogram(0, 0x10000000001000, 1);
	add_bin(0, 1);
	cr_assert_eq(functions_resolve(profile, &opener, &err), 0);
	cr_assert_eq(profile->nr_functions, 2);
	cr_assert_str_eq(profile->functions[0].name, "is");
	cr_assert_str_eq(profile->functions[1].name, "was");
}

/* A note is not needed for what is only a small part of a table. */
Test(functions, few_names_missing)
{
	static const struct source maps[] = { { .map = "1000 10 f\n" } };

	sources = maps;
	add_object(PROFILE_JIT, "[node:7]");
	add_histogram(0, 0x1000, 1);
	add_bin(0, 990);
	add_bin(0x10, 10);
	check_resolved();
	cr_assert_eq(profile->nr_functions, 2);
	cr_assert_eq(profile->nr_notes, 0);
}

/* Equal ticks: sorted by object, then offset. */
Test(functions, order)
{
	add_object(PROFILE_FILE, "/x");
	add_object(PROFILE_FILE, "/y");
	add_histogram(1, 0, 1);
	add_bin(5, 1);
	add_histogram(0, 0, 1)->overflow = true;
	add_bin(3, 1);
	add_bin(9, 1);
	CHECK({ 0, "x+0x3", 3, 1, 1 }, { 0, "x+0x9", 9, 1, 1 }, { 1, "y", 5, 1, 1 });
}

/* Numbers that no sampler writes, but a file may contain. */
Test(functions, hostile_numbers)
{
	static const struct source maps[] = { { .map = "0 ffffffffffffffff all\n" } };

	sources = maps;
	add_object(PROFILE_JIT, "jit");
	add_histogram(0, UINT64_MAX - 5, 65536);
	add_bin(0, 1);
	add_bin(UINT64_MAX, 2);
	add_histogram(0, 4, 0);
	add_bin(7, 4);
	add_bin(8, 0);
	CHECK({ 0, "jit+0x4", 4, 0, 4 }, { 0, "jit+0xffffffffffffffff", UINT64_MAX, 65536, 2 },
	      { 0, "all", 0, UINT64_MAX, 1 });
}

/* The place of an overflow bin says nothing of where its ticks were. */
Test(functions, overflow_bin)
{
	static const struct source maps[] = { { .map = "0 1000 first\n" } };

	sources = maps;
	add_object(PROFILE_JIT, "jit");
	add_histogram(0, 0, 2)->overflow = true;
	add_bin(0, 9);
	CHECK({ 0, "jit+0x0", 0, 2, 9 });
}

Test(functions, of_a_file)
{
	static const struct source files[] = { { .file = "program" } };
	uint64_t offset;

	fixture_write("program.c",
		      "#include \"mark.h\"\n"
		      "__attribute__((noinline)) int work(int x) { MARK(1); return x; }\n"
		      "int main(int c, char **v) { return work(c) + !v; }\n");
	fixture_shell("gcc -O1 -Wl,--build-id=0xabcdabcd -o program program.c");
	offset = fixture_mark("program", 1);
	sources = files;
	add_object(PROFILE_FILE, "/opt/program");
	profile->objects[0].build_id = strdup("abcdabcd");
	add_histogram(0, 0, 1);
	add_bin(offset, 5);
	check_first("work", offset);

	/* The file was replaced, so its names would be another file's. */
	free(profile->objects[0].build_id);
	profile->objects[0].build_id = strdup("abcdabce");
	CHECK({ 0, "program", offset, 1, 5 });
}

Test(functions, vdso)
{
	static const struct source none[] = { { NULL, NULL } };
	const ElfW(Ehdr) *image = (const void *)getauxval(AT_SYSINFO_EHDR);
	struct symbol_table *table;
	const struct symbol *symbol;
	uint64_t offset;

	cr_assert_eq(symbol_table_load_memory(
			     image, image->e_shoff + (size_t)image->e_shnum * image->e_shentsize,
			     NULL, &table, NULL),
		     0);
	symbol = symbol_table_named(table, "__vdso_getcpu");
	if (!symbol)
		symbol = symbol_table_named(table, "__kernel_clock_gettime");
	cr_assert(symbol);
	offset = symbol->offset;
	sources = none;
	add_object(PROFILE_FILE, "[vdso]");
	add_histogram(0, 0, 1);
	add_bin(offset, 5);
	check_first(symbol_table_find(table, offset)->name, offset);
	cr_assert_eq(opened, 0);
	symbol_table_free(table);

	profile->objects[0].build_id = strdup("00");
	CHECK({ 0, "[vdso]", offset, 1, 5 });
}

Test(functions, kernel)
{
	static const struct source none[] = { { NULL, NULL } };
	struct symbol_table *table;
	const struct symbol *symbol;
	struct error err = { 0 };

	NEED_ROOT();
	NEED(symbol_table_load_kallsyms("/proc/kallsyms", &table, &err) == 0, err.text);
	symbol = symbol_table_named(table, "schedule");
	cr_assert(symbol);
	sources = none;
	add_object(PROFILE_KERNEL, "kernel");
	add_histogram(0, symbol->offset, 1);
	add_bin(1, 5);
	check_first("schedule", symbol->offset + 1);
	symbol_table_free(table);
}

/* Half a million places, a thousand functions: the sum stays the same. */
Test(functions, many)
{
	static struct source maps[1];
	struct profile_histogram *histogram;
	size_t size, i;
	cleanup_free char *map = NULL;
	FILE *stream = open_memstream(&map, &size);

	for (i = 0; i < 1000; i++)
		fprintf(stream, "%zx 40 f%zu\n", i * 0x100, i);
	cr_assert_eq(fclose(stream), 0);
	maps[0].map = map;
	sources = maps;
	add_object(PROFILE_JIT, "jit");
	histogram = add_histogram(0, 0, 1);
	histogram->bins = calloc(500000, sizeof(*histogram->bins));
	for (i = 0; i < 500000; i++)
		histogram->bins[histogram->nr_bins++] = (struct profile_bin){ i, i };
	check_resolved();
	cr_assert_eq(profile->nr_functions, 2000);
	for (i = 1; i < profile->nr_functions; i++)
		cr_assert_geq(profile->functions[i - 1].ticks, profile->functions[i].ticks);
}
