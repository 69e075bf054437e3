// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/symbol_table.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"
#include "need.h"
#include "symbol/symbol.h"

struct given {
	uint64_t offset;
	uint64_t size;
	uint64_t limit;
	unsigned int rank;
	const char *name;
};

static struct symbol_table *make_table(enum symbol_overlap overlap, const struct given *given,
				       size_t nr)
{
	struct symbol_table *table = symbol_table_new(overlap);
	size_t i;

	cr_assert(table);
	for (i = 0; i < nr; i++) {
		struct symbol_spec spec = { .offset = given[i].offset,
					    .size = given[i].size,
					    .limit = given[i].limit,
					    .rank = given[i].rank,
					    .name = given[i].name };

		if (spec.name)
			spec.name_length = strlen(spec.name);

		cr_assert_eq(symbol_table_add(table, &spec), 0);
	}
	cr_assert_eq(symbol_table_finish(table), 0);
	return table;
}

#define TABLE(overlap, ...)                                                                        \
	make_table(overlap, (const struct given[]){ __VA_ARGS__ },                                 \
		   sizeof((const struct given[]){ __VA_ARGS__ }) / sizeof(struct given))

static void check_name(const struct symbol_table *table, uint64_t offset, const char *name)
{
	const struct symbol *symbol = symbol_table_find(table, offset);

	if (!name) {
		cr_assert_null(symbol, "%#lx is %s", offset, symbol->name);
		return;
	}
	cr_assert(symbol, "%#lx is nothing, not %s", offset, name);
	cr_assert_str_eq(symbol->name, name);
	cr_assert(symbol->offset <= offset && offset - symbol->offset < symbol->size,
		  "%s does not contain %#lx", name, offset);
}

Test(symbol_table, empty)
{
	struct symbol_table *table = make_table(SYMBOL_INNERMOST, NULL, 0);

	check_name(table, 0, NULL);
	check_name(table, UINT64_MAX, NULL);
	cr_assert_null(symbol_table_named(table, "x"));
	cr_assert_null(symbol_table_named(table, ""));
	symbol_table_free(table);
	symbol_table_free(NULL);
}

Test(symbol_table, bounds)
{
	struct symbol_table *table = TABLE(SYMBOL_INNERMOST, { 0x20, 0x10, 0, 0, "b" },
					   { 0x10, 8, 0, 0, "a" },
					   { UINT64_MAX - 4, 100, 0, 0, "last" });

	check_name(table, 0xf, NULL);
	check_name(table, 0x10, "a");
	check_name(table, 0x17, "a");
	check_name(table, 0x18, NULL);
	check_name(table, 0x1f, NULL);
	check_name(table, 0x20, "b");
	check_name(table, 0x2f, "b");
	check_name(table, 0x30, NULL);
	check_name(table, UINT64_MAX - 1, "last");
	check_name(table, UINT64_MAX, NULL);
	symbol_table_free(table);
}

Test(symbol_table, best_alias)
{
	struct symbol_table *table = TABLE(SYMBOL_INNERMOST, { 0x10, 0, 0x40, 3, "unsized" },
					   { 0x10, 8, 0, 3, "__libc_f" }, { 0x10, 8, 0, 1, "a" },
					   { 0x10, 8, 0, 3, "f" }, { 0x10, 8, 0, 2, "local" },
					   { 0x10, 8, 0, 3, "f" });
	const struct symbol *alias;

	check_name(table, 0x12, "f");
	/* The unsized alias has the size of the other, so it does not claim what follows. */
	check_name(table, 0x18, NULL);
	alias = symbol_table_named(table, "__libc_f");
	cr_assert(alias && alias->offset == 0x10 && alias->size == 8);
	symbol_table_free(table);
}

static void check_named(struct symbol_table *table, const char *name)
{
	const struct symbol *symbol = symbol_table_named(table, "ns::hot");

	cr_assert_eq(symbol != NULL, name != NULL);
	if (symbol)
		cr_assert_str_eq(symbol->name, name);
	symbol_table_free(table);
}

/* Of a function, the compiler may leave copies only, and each may have a cold part. */
Test(symbol_table, named_without_parameters)
{
	check_named(TABLE(SYMBOL_INNERMOST, { 0, 8, 0, 0, "_ZN2ns3hotEi.constprop.0" }),
		    "ns::hot(int) [clone .constprop.0]");
	check_named(TABLE(SYMBOL_INNERMOST, { 0, 8, 0, 0, "_ZN2ns3hotEi.cold" },
			  { 8, 8, 0, 0, "_ZN2ns3hotEi.isra.0.cold" },
			  { 16, 8, 0, 0, "_ZN2ns3hotEi.isra.0" }),
		    "ns::hot(int) [clone .isra.0]");
	check_named(TABLE(SYMBOL_INNERMOST, { 0, 8, 0, 0, "_ZN2ns3hotEi.part.0" },
			  { 8, 8, 0, 0, "_ZN2ns3hotEi" }),
		    "ns::hot(int)");
	check_named(TABLE(SYMBOL_INNERMOST, { 0, 8, 0, 0, "_ZN2ns3hotEi.cold" }), NULL);
}

Test(symbol_table, unsized)
{
	struct symbol_table *table =
		TABLE(SYMBOL_INNERMOST, { 0x10, 0, 0x100, 0, "a" }, { 0x20, 0x10, 0, 2, "sized" },
		      { 0x24, 0, 0x100, 0, "label" }, { 0x30, 0, 0x38, 0, "to_limit" },
		      { 0x50, 0, 0x100, 0, "b" }, { 0x60, 0, 0, 0, NULL });

	check_name(table, 0x1f, "a");
	check_name(table, 0x25, "sized");
	check_name(table, 0x2f, "sized");
	check_name(table, 0x37, "to_limit");
	check_name(table, 0x38, NULL);
	check_name(table, 0x5f, "b");
	check_name(table, 0x60, NULL);
	symbol_table_free(table);
}

Test(symbol_table, innermost)
{
	struct symbol_table *table = TABLE(SYMBOL_INNERMOST, { 0x10, 0x100, 0, 0, "outer" },
					   { 0x20, 0x10, 0, 0, "inner" },
					   { 0x28, 0x100, 0, 0, "across" },
					   { 0x40, 4, 0, 0, "deep" });

	check_name(table, 0x1f, "outer");
	check_name(table, 0x20, "inner");
	check_name(table, 0x28, "across");
	check_name(table, 0x40, "deep");
	check_name(table, 0x44, "across");
	check_name(table, 0x127, "across");
	check_name(table, 0x128, NULL);
	symbol_table_free(table);
}

static const char *last_to_cover(const struct given *given, size_t nr, uint64_t at)
{
	while (nr--) {
		if (at >= given[nr].offset && at - given[nr].offset < given[nr].size)
			return given[nr].name;
	}
	return NULL;
}

/* Compared with the definition: the last one added that covers the place. */
Test(symbol_table, latest)
{
	char names[300][8];
	struct given given[300];
	struct symbol_table *table;
	unsigned int round;
	uint64_t at;
	size_t i, nr;

	srand(1);
	for (round = 0; round < 50; round++) {
		nr = 1 + (size_t)rand() % 300;
		for (i = 0; i < nr; i++) {
			snprintf(names[i], sizeof(names[i]), "n%zu", i);
			given[i] = (struct given){ .offset = (uint64_t)rand() % 1000,
						   .size = 1 + (uint64_t)rand() % 50,
						   .name = names[i] };
		}
		table = make_table(SYMBOL_LATEST, given, nr);
		for (at = 0; at < 1100; at++)
			check_name(table, at, last_to_cover(given, nr, at));
		symbol_table_free(table);
	}
}

Test(symbol_table, spans_tile_everything)
{
	struct symbol_table *table =
		TABLE(SYMBOL_INNERMOST, { 0x10, 0x20, 0, 0, "a" }, { 0x18, 8, 0, 0, "b" });
	static const uint64_t starts[] = { 0, 0x10, 0x18, 0x20, 0x30, UINT64_MAX };
	struct symbol_span span;
	size_t i;

	for (i = 0; i + 1 < sizeof(starts) / sizeof(starts[0]); i++) {
		symbol_table_span(table, starts[i], &span);
		cr_assert_eq(span.start, starts[i]);
		cr_assert_eq(span.end, starts[i + 1]);
		cr_assert_eq(span.symbol != NULL, i >= 1 && i <= 3);
	}
	symbol_table_free(table);
}

static void check_demangled(const char *mangled, const char *plain)
{
	cleanup_free char *got = demangle(mangled);

	if (plain) {
		cr_assert(got, "%s", mangled);
		cr_assert_str_eq(got, plain);
	} else {
		cr_assert_null(got, "%s is %s", mangled, got);
	}
}

/* A table may be kept for long, so it has no room for symbols that do not come. */
Test(symbol_table, no_larger_than_needed)
{
	size_t bytes[2], i, nr;

	for (i = 0; i < 2; i++) {
		struct symbol_table *table = symbol_table_new(SYMBOL_INNERMOST);

		cr_assert(table);
		for (nr = 0; nr < 1024 + i; nr++) {
			const struct symbol_spec spec = { .offset = 16 * nr,
							  .size = 16,
							  .name = "sixteen letters!",
							  .name_length = 16 };

			cr_assert_eq(symbol_table_add(table, &spec), 0);
		}
		cr_assert_eq(symbol_table_finish(table), 0);
		bytes[i] = symbol_table_bytes(table);
		symbol_table_free(table);
	}
	cr_assert_lt(bytes[1] - bytes[0], bytes[0] / 512);
}

Test(demangle, names)
{
	check_demangled("main", NULL);
	check_demangled("_start", NULL);
	check_demangled("", NULL);
	check_demangled("_", NULL);
	check_demangled("_Z", NULL);
	check_demangled("_ZN", NULL);
	check_demangled("_ZN2ns4workEi", "ns::work(int)");
	check_demangled("_ZNKSt6vectorIiSaIiEE4sizeEv",
			"std::vector<int, std::allocator<int> >::size() const");
	check_demangled("_ZL4workv.cold", "work() [clone .cold]");
	/* A template's return type is left out, but not those inside its arguments. */
	check_demangled("_ZN2ns4sortIiEEPKvT_S2_", "ns::sort<int>(int, void const*)");
	check_demangled("_ZN2ns4sortIiEEPKvT_S2_.constprop.0",
			"ns::sort<int>(int, void const*) [clone .constprop.0]");
	check_demangled("_ZN2ns5applyIFivEEEbPT_", "ns::apply<int ()>(int (*)())");
	check_demangled("_ZNK2ns4ListIiEcvbEv", "ns::List<int>::operator bool() const");
	/* Rust's old scheme: the hash is removed. */
	check_demangled("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
			"core::fmt::Formatter::pad");
	check_demangled("_ZN58_$LT$alloc..string..String$u20$as$u20$core..fmt..Debug$GT$3fmt"
			"17h0123456789abcdefE",
			"<alloc::string::String as core::fmt::Debug>::fmt");
	/* Rust's v0 scheme */
	check_demangled("_RNvCs1234_7mycrate3foo", "mycrate::foo");
	check_demangled("_RNvC0f0", NULL);
	check_demangled("_RNvMs_NtCs1234_7mycrate3barNtB4_3Baz4work", "<mycrate::bar::Baz>::work");
}

/* Each parameter is a pair of the one before: 2^34 names in 400 bytes. */
Test(demangle, bomb)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char name[512] = "_Z1fSt4pairIiiE", *plain;
	size_t i, length = strlen(name);

	for (i = 0; i < 33; i++)
		length += (size_t)sprintf(name + length, "S_IS%c_S%c_E", digits[i], digits[i]);
	plain = demangle(name);
	cr_assert(plain);
	cr_assert_eq(strlen(plain), 4096);
	cr_assert_str_eq(plain + 4093, "...");
	cr_assert_eq(strncmp(plain, "f(std::pair<int, int>, ", 23), 0);
	free(plain);
}

static struct symbol_table *parse_map(const char *text, size_t size)
{
	struct symbol_table *table;
	struct error err = { 0 };

	cr_assert_eq(perf_map_parse(text, size, &table, &err), 0, "%s", err.text);
	return table;
}

Test(perf_map, lines)
{
	static const char text[] = "1000 20 LazyCompile:~f /a b.js:1\n"
				   "0x2000 0x10 hexed\r\n"
				   "3000 0 empty\n"
				   "\n"
				   "nonsense\n"
				   "zz 10 bad\n"
				   "4000 10\n"
				   "5000 10 \n"
				   "10000000000000000 10 too_big\n"
				   "-6000 10 negative\n"
				   "7000 ffffffffffffffff to_the_end\n"
				   "1008 8 over\n"
				   "8000 10 cut";
	struct symbol_table *table = parse_map(text, sizeof(text) - 1);

	check_name(table, 0x1000, "LazyCompile:~f /a b.js:1");
	check_name(table, 0x1007, "LazyCompile:~f /a b.js:1");
	check_name(table, 0x1008, "over");
	check_name(table, 0x1010, "LazyCompile:~f /a b.js:1");
	check_name(table, 0x1020, NULL);
	check_name(table, 0x200f, "hexed");
	check_name(table, 0x3000, NULL);
	check_name(table, 0x4000, NULL);
	check_name(table, 0x5000, NULL);
	check_name(table, 0x8000, "cut");
	check_name(table, 0x8010, "to_the_end");
	check_name(table, 0x10, NULL);
	symbol_table_free(table);
}

/* The program may be in the middle of a write, so every prefix is a valid map. */
Test(perf_map, every_truncation)
{
	static const char text[] = "1000 20 first\n2000 20 second one\n";
	char first[] = "first";
	size_t size;

	for (size = sizeof(text) - 1; size < sizeof(text); size--) {
		struct symbol_table *table = parse_map(text, size);

		if (size < strlen("1000 20 first"))
			first[size > 8 ? size - 8 : 0] = '\0';
		check_name(table, 0x1000, *first ? first : NULL);
		symbol_table_free(table);
	}
}

Test(perf_map, from_file)
{
	static const char text[] = "1000 20 f\n";
	int fd = memfd_create("map", MFD_CLOEXEC);
	struct symbol_table *table;
	struct error err = { 0 };

	cr_assert_eq(write(fd, text, sizeof(text) - 1), (ssize_t)sizeof(text) - 1);
	cr_assert_eq(symbol_table_load_perf_map(fd, UINT64_MAX, -1, &table, &err), 0, "%s",
		     err.text);
	check_name(table, 0x1000, "f");
	symbol_table_free(table);
	close(fd);
	cr_assert_eq(symbol_table_load_perf_map(fd, UINT64_MAX, -1, &table, &err), -EBADF);
	cr_assert_str_eq(err.text, "perf map: Bad file descriptor");
}

static int parse_kallsyms(const char *text, struct symbol_table **result, struct error *err)
{
	return kallsyms_parse(text, strlen(text), result, err);
}

Test(kallsyms, lines)
{
	struct symbol_table *table;
	struct error err = { 0 };

	cr_assert_eq(parse_kallsyms("0000000000000000 A fixed_percpu_data\n"
				    "ffffffff81000000 T _stext\n"
				    "ffffffff81000000 T startup\n"
				    "ffffffff81000100 t helper\n"
				    "ffffffff81000180 D some_data\n"
				    "ffffffff81000200 W weak_one\n"
				    "ffffffff81000200 t local_alias\n"
				    "ffffffffc0000000 t init_it\t[ext4]\n"
				    "ffffffffc0000010 r table\t[ext4]\n"
				    "garbage\n"
				    "ffffffffc0000020 T\n"
				    "ffffffffc0000030 w trunc",
				    &table, &err),
		     0, "%s", err.text);
	check_name(table, 0xffffffff81000000, "startup");
	check_name(table, 0xffffffff810000ff, "startup");
	check_name(table, 0xffffffff8100017f, "helper");
	check_name(table, 0xffffffff81000180, NULL);
	check_name(table, 0xffffffff81000250, "weak_one");
	/* No function reaches from one module to the next. */
	check_name(table, 0xffffffff91000000, NULL);
	check_name(table, 0xffffffffc000000f, "init_it [ext4]");
	check_name(table, 0xffffffffc0000010, NULL);
	check_name(table, 0xffffffffc0000030, "trunc");
	cr_assert(symbol_table_named(table, "_stext"));
	symbol_table_free(table);
}

/* Modules of arm64 have these beside each function, and inside of some. */
Test(kallsyms, marks)
{
	struct symbol_table *table;
	struct error err = { 0 };

	cr_assert_eq(parse_kallsyms("ffffffc008000000 t $x\t[nf_tables]\n"
				    "ffffffc008000000 t nft_foo\t[nf_tables]\n"
				    "ffffffc008000010 t $d\t[nf_tables]\n"
				    "ffffffc008000018 t $x.2\t[nf_tables]\n",
				    &table, &err),
		     0, "%s", err.text);
	check_name(table, 0xffffffc008000000, "nft_foo [nf_tables]");
	check_name(table, 0xffffffc008000020, "nft_foo [nf_tables]");
	symbol_table_free(table);
}

Test(kallsyms, hidden)
{
	struct symbol_table *table;
	struct error err = { 0 };

	cr_assert_eq(parse_kallsyms("0000000000000000 T _stext\n0000000000000000 t helper\n",
				    &table, &err),
		     -EPERM);
	cr_assert_str_eq(err.text, "kernel symbols: the kernel hides their addresses");
	cr_assert(strstr(err.hint, "kptr_restrict"));
	cr_assert_eq(parse_kallsyms("", &table, &err), 0);
	check_name(table, 0, NULL);
	symbol_table_free(table);
}

Test(kallsyms, missing)
{
	struct symbol_table *table;
	struct error err = { 0 };

	cr_assert_eq(symbol_table_load_kallsyms("/nonexistent", &table, &err), -ENOENT);
	cr_assert_str_eq(err.text, "/nonexistent: No such file or directory");
}

Test(kallsyms, of_this_host)
{
	struct symbol_table *table;
	const struct symbol *symbol;
	struct error err = { 0 };

	NEED_ROOT();
	NEED(symbol_table_load_kallsyms("/proc/kallsyms", &table, &err) == 0, err.text);
	symbol = symbol_table_named(table, "schedule");
	cr_assert(symbol);
	check_name(table, symbol->offset, "schedule");
	symbol_table_free(table);
}
