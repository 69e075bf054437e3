// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Perf maps that grow, and counts of code that other code has replaced. */
#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"
#include "host/engine/jit_map.h"
#include "host/engine/jit_text.h"

#define ROOM 1000

static struct jit_map *map;
static size_t room;
static int file;
static uint64_t replaced_at;
static char seen[4096]; /* names of the replaced code */

static int note_replaced(void *ctx, const struct jit_code *code, uint64_t time)
{
	char *name = jit_map_name(map, code);

	(void)ctx;
	replaced_at = time;
	strcat(strcat(seen, name ? name : "?"), " ");
	free(name);
	return 0;
}

static void setup(void)
{
	file = memfd_create("map", MFD_CLOEXEC);
	room = ROOM;
	map = jit_map_new(dup(file));
	cr_assert(map);
}

static void teardown(void)
{
	jit_map_free(map, &room);
	cr_expect_eq(room, ROOM, "all room is given back");
	close(file);
}

TestSuite(jit, .init = setup, .fini = teardown);

static void append(const char *text)
{
	cr_assert_eq(write(file, text, strlen(text)), (ssize_t)strlen(text));
}

/* Reads further; the codes that were replaced must be these, one letter each, in any order. */
static void check_read(int code, const char *replaced)
{
	const char *at;

	*seen = '\0';
	cr_assert_eq(jit_map_read(map, &room, note_replaced, NULL), code);
	cr_assert_eq(strlen(seen), strlen(replaced), "%s", seen);
	for (at = replaced; *at; at++)
		cr_assert(strchr(seen, *at), "%s, not %s", seen, replaced);
}

Test(jit, nothing_is_replaced)
{
	append("1000 100 a\n1100 100 b\n900 700 c\n");
	check_read(0, "");
	/* The same again, and others beside them. */
	append("1000 100 a\n1200 1 d\n8ff 1 e\n");
	check_read(0, "");
	check_read(0, "");
	cr_assert_eq(room, ROOM - 5);
}

Test(jit, replaced)
{
	append("1000 100 a\n1100 100 b\n1200 100 c\n");
	check_read(0, "");
	append("10ff 2 d\n");
	check_read(0, "a b ");
	/* What it left of them belongs to nobody. */
	append("1000 10 e\n1000 10 f\n1000 10 f\n");
	check_read(0, "e ");
	append("0 10000 all\n");
	check_read(0, "f d c ");
	cr_assert_eq(room, ROOM - 1);
}

/* An incomplete line is read when it is complete; a malformed one never. */
Test(jit, lines)
{
	append("1000 100 a\n1000 10");
	check_read(0, "");
	append("0 b\n");
	check_read(0, "a ");
	append("\n1000\n1000 0 none\n1000 10 \nzz 10 x\nffffffffffffffff 10 wraps\n"
	       "1000 1000001 larger than code is\n");
	check_read(0, "");
	append("1000 10 c\n");
	check_read(0, "b ");
}

Test(jit, begun_anew)
{
	append("1000 100 a\n2000 100 b\n");
	check_read(0, "");
	cr_assert_eq(ftruncate(file, 0), 0);
	cr_assert_eq(lseek(file, 0, SEEK_SET), 0);
	append("1000 100 c\n");
	check_read(0, "");
	cr_assert_eq(room, ROOM - 1);
}

/* A name is read again from its place, where by now there may be anything. */
Test(jit, name_that_changed)
{
	append("1000 100 first\n");
	check_read(0, "");
	cr_assert_eq(pwrite(file, "evil\x1b", 5, 9), 5);
	append("1000 100 next\n");
	check_read(0, "? ");
}

Test(jit, no_more_room)
{
	room = 2;
	append("1000 10 a\n2000 10 b\n3000 10 c\n");
	check_read(-E2BIG, "");
	cr_assert_eq(room, 2);
	append("1000 10 d\n");
	check_read(0, "");
	room = ROOM;
}

/* A line of megabytes, and more lines than one reading takes. */
Test(jit, much)
{
	const size_t size = JIT_READ_MAX / 2 * 3;
	cleanup_free char *much = malloc(size);
	size_t i;

	memset(much, 'x', size);
	cr_assert_eq(write(file, much, size), (ssize_t)size);
	append("\n1000 10 a\n");
	check_read(1, "");
	check_read(0, "");
	cr_assert_eq(room, ROOM - 1);
	for (i = 0; i + 10 < size; i += 10)
		memcpy(much + i, "2000 10 b\n", 10);
	cr_assert_eq(write(file, much, i), (ssize_t)i);
	append("1000 10 c\n");
	check_read(1, "");
	check_read(0, "a ");
}

/* --- places ---------------------------------------------------------------------------------- */

/* What lay at an address in a version, and what lies there now, whichever versions are still known. */
Test(jit, formers)
{
	const struct jit_code code = { .start = 0x1000, .size = 0x100 };
	const struct jit_code wide = { .start = 0x800, .size = 0x10000 };
	struct jit_text *text = jit_text_new();
	uint64_t first, second, third;

	cr_assert(text);
	cr_assert_eq(jit_text_add_former(text, &code, strdup("first"), false), 0);
	text->version = 1;
	cr_expect_eq(jit_text_find_former(text, 1, 0x1010), 0x1010);
	cr_assert_eq(jit_text_add_former(text, &code, strdup("second"), true), 0);
	text->version = 2;
	cr_assert_eq(jit_text_add_former(text, &wide, strdup("third"), false), 0);
	text->version = 3;
	first = jit_text_find_former(text, 0, 0x1010);
	second = jit_text_find_former(text, 1, 0x1010);
	third = jit_text_find_former(text, 2, 0x1010);
	cr_expect(first >= JIT_PLACES && first < JIT_DOUBTFUL);
	cr_expect(second >= JIT_DOUBTFUL && second < 2 * JIT_PLACES);
	cr_expect(third >= JIT_PLACES && third < JIT_DOUBTFUL);
	cr_expect_gt(third, first + 0xf0);
	cr_expect_eq(jit_text_find_former(text, 0, 0x1020), first + 0x10);
	cr_expect_eq(jit_text_find_former(text, 0, 0x1100), third + 0xf0, "it is behind the code");
	cr_expect_eq(jit_text_find_former(text, 0, 0x10800), 0x10800, "it is behind all");
	cr_expect_eq(jit_text_find_former(text, 0, 0x7ff), 0x7ff, "it is before all");
	cr_expect_eq(jit_text_find_former(text, 3, 0x1010), 0x1010);
	jit_text_drop_formers(text, 1);
	cr_expect_eq(jit_text_find_former(text, 1, 0x1010), second, "it keeps its place");
	cr_expect_eq(text->formers.nr, 2);
	jit_text_free(text, &room);
}

/* Places do not overlap, have the code's offset in a page, and are listed as long as they are known. */
Test(jit, places)
{
	struct jit_text *text = jit_text_new();
	const struct jit_code code = { .start = 0x7f0000012340, .size = 0x20000 };
	const uint64_t first = JIT_PLACES + 0x2340, next = first + 0x30000;
	char got[256] = "", want[256];
	int fd;

	cr_assert_eq(jit_text_open_places(text), -ENOENT);
	cr_assert_eq(jit_text_add_former(text, &code, strdup("f"), false), 0);
	cr_assert_eq(jit_text_add_former(text, &code, strdup("g"), false), 0);
	fd = jit_text_open_places(text);
	cr_assert_geq(fd, 0);
	cr_assert_gt(pread(fd, got, sizeof(got) - 1, 0), 0);
	snprintf(want, sizeof(want), "%" PRIx64 " 20000 f\n%" PRIx64 " 20000 g\n", first, next);
	cr_assert_str_eq(got, want);
	close(fd);
	jit_text_drop_formers(text, 1);
	cr_assert_eq(jit_text_open_places(text), -ENOENT);
	jit_text_free(text, &room);
}
