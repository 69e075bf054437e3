// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/symbol_cache.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "symbol/symbol_source.h"
#include "symbol/symbol_table.h"

/* One jit object with a tick at 0x1000; its perf map is a file of the test's. */
static char map_path[] = "/tmp/bpfprofil-map-XXXXXX";
static struct symbol_cache *cache;

static void write_map(const char *text, time_t when)
{
	const struct timespec times[2] = { { .tv_sec = when }, { .tv_sec = when } };
	int fd = open(map_path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	cr_assert(fd >= 0);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	cr_assert_eq(futimens(fd, times), 0);
	close(fd);
}

static struct symbol_table *load(const struct profile_object *object)
{
	cleanup_fd int fd = open(map_path, O_RDONLY | O_CLOEXEC);
	const struct symbol_source_file file = { .fd = fd, .limit = UINT64_MAX, .places = -1 };
	struct symbol_range range = { 0x1000, 0x1001 };
	struct symbol_wanted wanted = { .ranges = &range, .nr = 1 };
	struct symbol_table *table;

	cr_assert_eq(symbol_source_load(object, &file, cache, &wanted, &table, NULL), 0);
	return table;
}

static void check_name(const char *build_id, const char *want)
{
	const struct profile_object object = { .kind = PROFILE_JIT,
					       .path = (char *)"[jit:1]",
					       .build_id = (char *)build_id };
	struct symbol_table *table = load(&object);
	const struct symbol *symbol = table ? symbol_table_find(table, 0x1000) : NULL;

	cr_expect_str_eq(symbol ? symbol->name : object.path, want);
	symbol_source_release(cache, table);
}

static void setup(void)
{
	int fd = mkstemp(map_path);

	cr_assert(fd >= 0);
	close(fd);
	cache = symbol_cache_new(SYMBOL_CACHE_BYTES);
	cr_assert(cache);
}

static void teardown(void)
{
	symbol_cache_free(cache);
	unlink(map_path);
}

TestSuite(symbol_cache, .init = setup, .fini = teardown);

/* A file that looks unchanged is not read again. */
Test(symbol_cache, read_once)
{
	write_map("1000 10 before\n", 1000);
	check_name(NULL, "before");
	write_map("1000 10 behind\n", 1000);
	check_name(NULL, "before");
}

Test(symbol_cache, grown_file)
{
	write_map("1000 10 before\n", 1000);
	check_name(NULL, "before");
	write_map("1000 10 before\n1000 10 later\n", 1000);
	check_name(NULL, "later");
	write_map("1000 10 before\n1000 10 newer\n", 1001);
	check_name(NULL, "newer");
}

Test(symbol_cache, other_build)
{
	write_map("1000 10 before\n", 1000);
	check_name("aa", "before");
	write_map("1000 10 behind\n", 1000);
	check_name("bb", "behind");
	check_name("aa", "before");
	check_name(NULL, "behind");
}

/* It is remembered that a file has no symbols. */
Test(symbol_cache, no_symbols)
{
	write_map("nothing\n", 1000);
	check_name(NULL, "[jit:1]");
	write_map("1000 1 a", 1000);
	check_name(NULL, "[jit:1]");
	write_map("1000 1 a", 1001);
	check_name(NULL, "a");
}

Test(symbol_cache, ages)
{
	int i;

	write_map("1000 10 before\n", 1000);
	check_name(NULL, "before");
	write_map("1000 10 behind\n", 1000);
	for (i = 0; i < SYMBOL_CACHE_AGE; i++)
		symbol_cache_age(cache);
	check_name(NULL, "before");
	for (i = 0; i <= SYMBOL_CACHE_AGE; i++)
		symbol_cache_age(cache);
	check_name(NULL, "behind");
}

/* Anybody may run any number of files, so those without room are read again each time. */
Test(symbol_cache, no_room)
{
	symbol_cache_free(cache);
	cache = symbol_cache_new(1);
	write_map("1000 10 before\n", 1000);
	check_name(NULL, "before");
	check_name("aa", "before");
	write_map("1000 10 behind\n", 1000);
	check_name(NULL, "behind");
}

/* A table that was of use before makes room for one that is of use now, and is as it should be later. */
Test(symbol_cache, makes_room)
{
	static const char before[] = "1000 10 before\n", behind[] = "1000 10 behind\n";

	symbol_cache_free(cache);
	cache = symbol_cache_new(400);
	write_map(before, 1000);
	check_name("aa", "before");
	symbol_cache_age(cache);
	check_name("bb", "before");
	check_name("bb", "before");
	/* bb is kept. aa is read again, and finds no room, because this profile has asked for bb. */
	write_map(behind, 1000);
	check_name("bb", "before");
	check_name("aa", "behind");
	check_name("bb", "before");
	symbol_cache_age(cache);
	check_name("aa", "behind");
	check_name("bb", "behind");
}

/* One that is replaced while it is not asked for is read as it is by then. */
Test(symbol_cache, other_file_of_one_path)
{
	write_map("1000 10 before\n", 1000);
	check_name("aa", "before");
	unlink(map_path);
	cr_assert_eq(close(open(map_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)), 0);
	write_map("1000 10 behind\n", 1000);
	check_name("bb", "behind");
	symbol_cache_age(cache);
	check_name("bb", "behind");
}

static struct symbol_table *load_kernel(const char *path, uint64_t place)
{
	const struct profile_object object = { .kind = PROFILE_KERNEL, .path = (char *)path };
	const struct symbol_source_file file = { .fd = -1, .places = -1 };
	struct symbol_range range = { place, place + 1 };
	struct symbol_wanted wanted = { .ranges = &range, .nr = 1 };
	struct symbol_table *table = NULL;

	symbol_source_load(&object, &file, cache, &wanted, &table, NULL);
	return table;
}

/*
 * BPF programs come and go unseen. What is in none, or outside of all that is known, may be a new one's: then
 * the kernel's list is read again, once for a profile.
 */
Test(symbol_cache, bpf)
{
	static const char text[] = "ffffffff81000000 T of_no_kernel\n"
				   "ffffffffc0000000 t init_it\t[ext4]\n"
				   "ffffffffc0001000 t bpf_prog_0123456789abcdef_old\t[bpf]\n";
	const struct profile_object object = { .kind = PROFILE_KERNEL };
	struct symbol_table *table, *other;

	cr_assert_eq(kallsyms_parse(text, strlen(text), &table, NULL), 0);
	symbol_cache_add(cache, &object, -1, table);
	cr_expect_eq(load_kernel("[kernel]", 0xffffffffc0001010), table);
	symbol_cache_age(cache);
	cr_expect_eq(load_kernel("[kernel]", 0xffffffff81000010), table);
	cr_expect_eq(load_kernel("ext4", 0xffffffffc0000010), table);
	other = load_kernel("[kernel]", 0xffffffffc0001010);
	cr_expect_not(other && symbol_table_named(other, "of_no_kernel"));
	cr_expect_eq(load_kernel("[kernel]", 1), other);
}

#ifndef __SANITIZE_ADDRESS__ /* whose malloc() does not tell what is in use */
static size_t in_use(void)
{
	const struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* What a profile needed of a table without room is given back at once. */
Test(symbol_cache, no_room_is_given_back)
{
	const struct profile_object object = { .kind = PROFILE_JIT, .path = (char *)"[jit:1]" };
	enum { NAMES = 50000 };
	struct symbol_table *table;
	size_t before, i, length = 0;
	char *map = malloc(NAMES * 32);

	cr_assert(map);
	for (i = 0; i < NAMES; i++)
		length += (size_t)sprintf(map + length, "%zx 10 name\n", 0x1000 + 16 * i);
	symbol_cache_free(cache);
	cache = symbol_cache_new(1);
	write_map(map, 1000);
	before = in_use();
	table = load(&object);
	cr_assert_gt(in_use(), before + NAMES * 16);
	symbol_source_release(cache, table);
	cr_assert_lt(in_use(), before + NAMES);
	check_name(NULL, "name");
	free(map);
}
#endif
