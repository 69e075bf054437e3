// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Dumps of just-in-time code: as runtimes write them, cut off, and of any bytes. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/engine/jit_map.h"
#include "host/engine/spaces.h"
#include "need.h"
#include "symbol/jit_dump.h"
#include "symbol/symbol.h"
#include "symbol/symbol_table.h"
#include "test_symbol_fixture.h"

struct dump {
	char bytes[65536];
	size_t nr;
};

static void put(struct dump *dump, const void *bytes, size_t nr)
{
	memcpy(dump->bytes + dump->nr, bytes, nr);
	dump->nr += nr;
}

static void put32(struct dump *dump, uint32_t value)
{
	put(dump, &value, sizeof(value));
}

static void put64(struct dump *dump, uint64_t value)
{
	put(dump, &value, sizeof(value));
}

static void put_header(struct dump *dump)
{
	const uint32_t words[] = { 0x4a695444, 1, 40, 62, 0, 77, 1, 0, 0, 0 };

	put(dump, words, sizeof(words));
}

static void put_load(struct dump *dump, uint64_t time, uint64_t start, uint64_t size,
		     uint64_t index, const char *name)
{
	static const char code[4096];
	size_t length = strlen(name) + 1;

	put32(dump, 0);
	put32(dump, (uint32_t)(56 + length + size));
	put64(dump, time);
	put64(dump, 77);
	put64(dump, start);
	put64(dump, start);
	put64(dump, size);
	put64(dump, index);
	put(dump, name, length);
	put(dump, code, size);
}

static void put_move(struct dump *dump, uint64_t time, uint64_t from, uint64_t start, uint64_t size,
		     uint64_t index)
{
	put32(dump, 1);
	put32(dump, 64);
	put64(dump, time);
	put64(dump, 77);
	put64(dump, start);
	put64(dump, from);
	put64(dump, start);
	put64(dump, size);
	put64(dump, index);
}

/* f and g; an unwinding record; f moves, and h is loaded where it was. */
static void put_all(struct dump *dump)
{
	put_header(dump);
	put_load(dump, 100, 0x1000, 0x100, 1, "f");
	put_load(dump, 200, 0x2000, 0x100, 2, "g");
	put32(dump, 4);
	put32(dump, 24);
	put64(dump, 250);
	put64(dump, 0);
	put_move(dump, 300, 0x1000, 0x3000, 0x100, 1);
	put_load(dump, 400, 0x1080, 0x100, 3, "h");
}

static void check_name(const struct symbol_table *table, uint64_t at, const char *name)
{
	const struct symbol *symbol = symbol_table_find(table, at);

	if (!name)
		cr_assert_null(symbol, "%#lx is %s", at, symbol->name);
	else
		cr_assert(symbol && !strcmp(symbol->name, name), "%#lx is not %s", at, name);
}

Test(jit_dump, names)
{
	static struct dump dump;
	struct symbol_table *table;

	put_all(&dump);
	put_move(&dump, 500, 0x9000, 0x9100, 0x100, 99);
	cr_assert_eq(perf_map_parse(dump.bytes, dump.nr, &table, NULL), 0);
	check_name(table, 0x1000, "f");
	check_name(table, 0x1080, "h");
	check_name(table, 0x20ff, "g");
	check_name(table, 0x3000, "f");
	check_name(table, 0x9100, NULL);
	symbol_table_free(table);
}

/* A dump that is being written, or was cut off. */
Test(jit_dump, every_truncation)
{
	static struct dump dump;
	size_t nr;

	put_all(&dump);
	for (nr = 0; nr < dump.nr; nr++) {
		char *exact = malloc(nr + 1);
		struct symbol_table *table;

		memcpy(exact, dump.bytes, nr);
		cr_assert_eq(perf_map_parse(exact, nr, &table, NULL), 0);
		check_name(table, 0x1080, nr >= 40 + 58 + 256 ? "f" : NULL);
		symbol_table_free(table);
		free(exact);
	}
}

/* Records that are too short, or longer than anything; a name without an end. */
Test(jit_dump, hostile)
{
	struct jit_record record;
	static struct dump dump;

	put32(&dump, 0);
	put32(&dump, 0);
	put64(&dump, 0);
	cr_assert_eq(jit_dump_record(dump.bytes, dump.nr, &record), -EINVAL);
	dump.bytes[4] = 56;
	cr_assert_eq(jit_dump_record(dump.bytes, dump.nr, &record), -EINVAL);
	memset(dump.bytes + 4, 0xff, 4);
	memset(dump.bytes + 16, 'x', sizeof(dump.bytes) - 16);
	cr_assert_eq(jit_dump_record(dump.bytes, 1000, &record), 0);
	cr_assert_eq(jit_dump_record(dump.bytes, JIT_RECORD_PREFIX, &record), UINT32_MAX);
	cr_assert_eq(record.name_length, JIT_RECORD_PREFIX - 56);
	dump.bytes[0] = 1;
	dump.bytes[4] = 63;
	memset(dump.bytes + 5, 0, 3);
	cr_assert_eq(jit_dump_record(dump.bytes, dump.nr, &record), -EINVAL);
}

/* --- while it is written ---------------------------------------------------------------------- */

static struct jit_map *map;
static char seen[256];

static int note_replaced(void *ctx, const struct jit_code *code, uint64_t time)
{
	char *name = jit_map_name(map, code), line[64];

	(void)ctx;
	snprintf(line, sizeof(line), "%s %lu-%lu ", name ? name : "?", code->time, time);
	strcat(seen, line);
	free(name);
	return 0;
}

/* Written a byte at a time, the result is the same whenever it is read. */
Test(jit_dump, grows)
{
	int fd = memfd_create("dump", MFD_CLOEXEC);
	static struct dump dump;
	size_t room = 10, i;

	put_all(&dump);
	map = jit_map_new(dup(fd));
	for (i = 0; i < dump.nr; i++) {
		cr_assert_eq(write(fd, dump.bytes + i, 1), 1);
		cr_assert_eq(jit_map_read(map, &room, note_replaced, NULL), 0);
	}
	cr_assert_str_eq(seen, "f 100-400 ");
	cr_assert_eq(room, 7);
	dump.nr = 0;
	put_load(&dump, 500, 0x3000, 0x1000, 4, "i");
	put64(&dump, 0);
	put64(&dump, 0);
	put_load(&dump, 600, 0x3000, 0x1000, 5, "after what is no record");
	cr_assert_eq(write(fd, dump.bytes, dump.nr), (ssize_t)dump.nr);
	cr_assert_eq(jit_map_read(map, &room, note_replaced, NULL), 0);
	cr_assert_str_eq(seen, "f 100-400 f 300-500 ");
	jit_map_free(map, &room);
	cr_assert_eq(room, 10);
	close(fd);
}

/* --- whose it is ------------------------------------------------------------------------------- */

static void *map_dump(const char *name, int protection)
{
	int fd = fixture_open(name);
	void *at = mmap(NULL, 4096, protection, MAP_PRIVATE, fd, 0);

	cr_assert_neq(at, MAP_FAILED);
	close(fd);
	return at;
}

Test(jit_dump, is_found, .init = fixture_begin, .fini = fixture_end)
{
	struct space_info process = { .fd = -1, .root_fd = -1, .ns_fd = -1, .uid = 23456 };
	char name[32];
	void *at;
	int fd;

	NEED_ROOT();
	process.tgid = process.ns_pid = (uint32_t)getpid();
	snprintf(name, sizeof(name), "jit-%u.dump", process.ns_pid);
	fixture_write(name, "any bytes");
	at = map_dump(name, PROT_READ);
	cr_assert_eq(space_open_jit_dump(&process), -ENOENT, "it is not mapped as text");
	munmap(at, 4096);
	fixture_write("jit-1.dump", "another's");
	map_dump("jit-1.dump", PROT_READ | PROT_EXEC);
	cr_assert_eq(space_open_jit_dump(&process), -ENOENT);
	map_dump(name, PROT_READ | PROT_EXEC);
	fixture_shell("chown 23456 jit-*");
	fd = space_open_jit_dump(&process);
	cr_assert_geq(fd, 0);
	close(fd);
	fixture_shell("chown 12345 jit-*");
	cr_assert_eq(space_open_jit_dump(&process), -EPERM);
	process.tgid = 0;
	cr_assert_eq(space_open_jit_dump(&process), -ENOENT);
}
