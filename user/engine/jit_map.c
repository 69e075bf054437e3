// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "engine/jit_map.h"

#include <errno.h>
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/symbol_table.h"
#include "symbol/text_symbols.h"

#define BUFFER_BYTES 65536UL
#define NAME_MAX_BYTES 4096U

/* Codes lie apart in the tree: what a new one overlaps has left it. */
struct jit_map {
	int fd;
	bool blind; /* it was too large */
	uint64_t at; /* where the next line begins */
	void *codes;
	char buffer[BUFFER_BYTES];
};

struct jit_map *jit_map_new(int fd)
{
	struct jit_map *map = calloc(1, sizeof(*map));

	if (map)
		map->fd = fd;
	return map;
}

/* Overlapping ones are equal: of such two at most one is in the tree. */
static int compare_codes(const void *left, const void *right)
{
	const struct jit_code *a = left, *b = right;

	if (a->start + a->size <= b->start)
		return -1;
	return a->start >= b->start + b->size;
}

static void forget_all(struct jit_map *map, size_t *room)
{
	while (map->codes) {
		struct jit_code *code = *(struct jit_code **)map->codes;

		tdelete(code, &map->codes, compare_codes);
		free(code);
		++*room;
	}
}

void jit_map_free(struct jit_map *map, size_t *room)
{
	if (!map)
		return;
	forget_all(map, room);
	close(map->fd);
	free(map);
}

static uint32_t sum_of(const char *name, size_t length)
{
	uint32_t sum = 2166136261U; /* FNV-1a */

	while (length--)
		sum = (sum ^ (unsigned char)*name++) * 16777619U;
	return sum;
}

static bool is_same(const struct jit_code *a, const struct jit_code *b)
{
	return a->start == b->start && a->size == b->size && a->name_length == b->name_length &&
	       a->name_sum == b->name_sum;
}

/* Takes out what the code overlaps. 1: it is there already; -ENOMEM. */
static int replace(struct jit_map *map, const struct jit_code *code, size_t *room,
		   jit_replaced replaced, void *ctx)
{
	struct jit_code *old, **found;

	while ((found = tfind(code, &map->codes, compare_codes))) {
		old = *found;
		if (is_same(old, code))
			return 1;
		if (replaced(ctx, old))
			return -ENOMEM;
		tdelete(old, &map->codes, compare_codes);
		free(old);
		++*room;
	}
	return 0;
}

static int add_code(struct jit_map *map, const struct jit_code *code, size_t *room,
		    jit_replaced replaced, void *ctx)
{
	struct jit_code *copy;
	int ret = replace(map, code, room, replaced, ctx);

	if (ret)
		return ret < 0 ? ret : 0;
	if (!*room)
		return -E2BIG;
	copy = malloc(sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	*copy = *code;
	if (!tsearch(copy, &map->codes, compare_codes)) {
		free(copy);
		return -ENOMEM;
	}
	--*room;
	return 0;
}

static int add_line(struct jit_map *map, struct text_cursor line, size_t *room,
		    jit_replaced replaced, void *ctx)
{
	struct symbol_spec spec = { 0 };
	struct jit_code code;

	if (!perf_map_line(&line, &spec) || spec.size > JIT_CODE_MAX ||
	    spec.offset > UINT64_MAX - spec.size)
		return 0;
	code = (struct jit_code){ .start = spec.offset,
				  .size = spec.size,
				  .line = map->at + (uint64_t)(spec.name - map->buffer),
				  .name_length = spec.name_length < NAME_MAX_BYTES ?
							 (uint32_t)spec.name_length :
							 NAME_MAX_BYTES };
	code.name_sum = sum_of(spec.name, code.name_length);
	return add_code(map, &code, room, replaced, ctx);
}

/* Bytes of whole lines in the buffer; of a line that is longer, the buffer. */
static size_t whole_lines(const struct jit_map *map, size_t got)
{
	const char *newline = memrchr(map->buffer, '\n', got);

	if (newline)
		return (size_t)(newline - map->buffer) + 1;
	return got == BUFFER_BYTES ? got : 0;
}

/* Returns the bytes that were read, 0 at the end. */
static ssize_t read_some(struct jit_map *map, size_t *room, jit_replaced replaced, void *ctx)
{
	ssize_t got = pread(map->fd, map->buffer, BUFFER_BYTES, (off_t)map->at);
	struct text_cursor rest, line;
	int ret = 0;

	if (got < 0)
		return -errno;
	rest = (struct text_cursor){ map->buffer, map->buffer + whole_lines(map, (size_t)got) };
	got = rest.end - rest.at;
	while (!ret && text_next_line(&rest, &line))
		ret = add_line(map, line, room, replaced, ctx);
	map->at += (uint64_t)got;
	return ret ? ret : got;
}

int jit_map_read(struct jit_map *map, size_t *room, jit_replaced replaced, void *ctx)
{
	size_t done = 0;
	struct stat st;
	ssize_t got;

	if (map->blind)
		return 0;
	if (fstat(map->fd, &st))
		return -errno;
	/* Begun anew: what was there before is another's. */
	if ((uint64_t)st.st_size < map->at) {
		forget_all(map, room);
		map->at = 0;
	}
	do {
		got = read_some(map, room, replaced, ctx);
		if (got > 0)
			done += (size_t)got;
	} while (got > 0 && done < JIT_READ_MAX);
	if (got != -E2BIG)
		return got > 0 ? 1 : (int)got;
	map->blind = true;
	forget_all(map, room);
	return -E2BIG;
}

char *jit_map_name(const struct jit_map *map, const struct jit_code *code)
{
	char *name = malloc(code->name_length + 1);

	if (!name)
		return NULL;
	if (pread(map->fd, name, code->name_length, (off_t)code->line) !=
		    (ssize_t)code->name_length ||
	    sum_of(name, code->name_length) != code->name_sum) {
		free(name);
		return NULL;
	}
	name[code->name_length] = '\0';
	return name;
}

int jit_map_fd(const struct jit_map *map)
{
	return map->fd;
}
