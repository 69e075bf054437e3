// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/engine/jit_map.h"

#include <errno.h>
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "symbol/jit_dump.h"
#include "symbol/symbol_table.h"

#define BUFFER_BYTES 65536UL
#define NAME_MAX_BYTES 4096U

/* Entries of the tree do not overlap: a new one removes all that it overlaps. */
struct jit_map {
	int fd;
	bool blind; /* it was too large, or is no longer a dump */
	bool is_dump;
	bool has_time; /* its records have times that we can use */
	uint64_t at; /* where the next line or record begins in the file */
	uint64_t size; /* of the file at this reading */
	uint64_t reading_ns; /* when that began */
	size_t *room; /* of this reading: see jit_map_read() */
	jit_replaced replaced;
	void *ctx;
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

void jit_map_renew(struct jit_map *map, int fd)
{
	close(map->fd);
	map->fd = fd;
}

/* Overlapping entries compare as equal; at most one of two such entries is in the tree. */
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
	const uint64_t hash = hash_bytes(HASH_BEGIN, name, length);

	return (uint32_t)(hash ^ hash >> 32);
}

static bool is_same_code(const struct jit_code *a, const struct jit_code *b)
{
	return a->start == b->start && a->size == b->size && a->name_length == b->name_length &&
	       a->name_sum == b->name_sum;
}

/*
 * Removes the entries that the code overlaps. Returns 1 if the same entry is there already, or
 * -ENOMEM.
 */
static int replace_code(struct jit_map *map, const struct jit_code *code)
{
	struct jit_code *old, **found;

	while ((found = tfind(code, &map->codes, compare_codes))) {
		old = *found;
		if (is_same_code(old, code))
			return 1;
		if (map->replaced(map->ctx, old, code->time))
			return -ENOMEM;
		tdelete(old, &map->codes, compare_codes);
		free(old);
		++*map->room;
	}
	return 0;
}

static int add_code(struct jit_map *map, const struct jit_code *code)
{
	struct jit_code *copy;
	int ret;

	if (!code->size || code->size > JIT_CODE_MAX || code->start > UINT64_MAX - code->size)
		return 0;
	ret = replace_code(map, code);
	if (ret)
		return ret < 0 ? ret : 0;
	if (!*map->room)
		return -E2BIG;
	copy = malloc(sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	*copy = *code;
	copy->read_ns = map->reading_ns;
	if (!tsearch(copy, &map->codes, compare_codes)) {
		free(copy);
		return -ENOMEM;
	}
	--*map->room;
	return 0;
}

static struct jit_code make_code(const struct jit_map *map, uint64_t start, uint64_t size,
				 const char *name, size_t length)
{
	struct jit_code code = { .start = start,
				 .size = size,
				 .line = map->at + (uint64_t)(name - map->buffer) };

	code.name_length = (uint32_t)min_size(length, NAME_MAX_BYTES);
	code.name_sum = sum_of(name, code.name_length);
	return code;
}

static int add_map_line(struct jit_map *map, struct text_cursor line)
{
	struct symbol_spec spec = { 0 };
	struct jit_code code;

	if (!perf_map_line(&line, &spec))
		return 0;
	code = make_code(map, spec.offset, spec.size, spec.name, spec.name_length);
	return add_code(map, &code);
}

/* The bytes of whole lines in the buffer; all of it if a line does not fit. */
static size_t whole_lines(const struct jit_map *map, size_t got)
{
	const char *newline = memrchr(map->buffer, '\n', got);

	if (newline)
		return (size_t)(newline - map->buffer) + 1;
	return got == BUFFER_BYTES ? got : 0;
}

/* Adds the lines in the buffer. *done: how many bytes of the file these were. */
static int add_map_lines(struct jit_map *map, size_t got, uint64_t *done)
{
	struct text_cursor rest = { map->buffer, map->buffer + whole_lines(map, got) }, line;
	int ret = 0;

	*done = (uint64_t)(rest.end - rest.at);
	while (!ret && text_next_line(&rest, &line))
		ret = add_map_line(map, line);
	return ret;
}

static int add_dump_record(struct jit_map *map, const struct jit_record *record)
{
	const struct jit_code from = { .start = record->from, .size = 1 };
	uint64_t time = map->has_time ? record->time : 0;
	struct jit_code code, **found;

	if (record->kind == JIT_LOAD) {
		code = make_code(map, record->start, record->size, record->name,
				 record->name_length);
		code.time = time;
		return add_code(map, &code);
	}
	found = record->kind == JIT_MOVE && record->from != UINT64_MAX ?
			tfind(&from, &map->codes, compare_codes) :
			NULL;
	if (!found)
		return 0;
	code = **found;
	code.start = record->start;
	code.size = record->size;
	code.time = time;
	return add_code(map, &code);
}

/* Does the same for a dump. Code between records is skipped. */
static int add_records(struct jit_map *map, size_t got, uint64_t *done)
{
	struct jit_record record;
	size_t at = 0;
	ssize_t length;
	int ret = 0;

	while (!ret && at < got) {
		length = jit_dump_record(map->buffer + at, got - at, &record);
		if (length <= 0) {
			map->blind = length < 0;
			break;
		}
		/* The record is still being written. */
		if ((uint64_t)length > map->size - map->at - at)
			break;
		ret = add_dump_record(map, &record);
		at += (size_t)length;
	}
	*done = at;
	return ret;
}

static size_t begin_dump(struct jit_map *map, size_t got)
{
	size_t header = map->at ? 0 : jit_dump_header(map->buffer, got, &map->has_time);

	if (!map->at)
		map->is_dump = header != 0;
	return header;
}

/* Returns the number of bytes read, 0 at the end. */
static int64_t read_some(struct jit_map *map)
{
	uint64_t left = map->size - map->at, done;
	ssize_t got = pread(map->fd, map->buffer, min_size(left, BUFFER_BYTES), (off_t)map->at);
	int ret;

	if (got < 0)
		return -errno;
	done = begin_dump(map, (size_t)got);
	if (!done) {
		ret = map->is_dump ? add_records(map, (size_t)got, &done) :
				     add_map_lines(map, (size_t)got, &done);
		if (ret)
			return ret;
	}
	map->at += done;
	return (int64_t)done;
}

int jit_map_read(struct jit_map *map, size_t *room, jit_replaced replaced, void *ctx)
{
	uint64_t done = 0;
	struct stat st;
	int64_t got;

	if (map->blind)
		return 0;
	map->reading_ns = monotonic_ns();
	map->room = room;
	map->replaced = replaced;
	map->ctx = ctx;
	if (fstat(map->fd, &st))
		return -errno;
	/* A file that became shorter was begun anew. Then the old entries are no longer valid. */
	map->size = (uint64_t)st.st_size;
	if (map->size < map->at) {
		forget_all(map, room);
		map->at = 0;
	}
	do {
		got = read_some(map);
		if (got > 0)
			done += (uint64_t)got;
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

uint64_t jit_map_at(const struct jit_map *map)
{
	return map->blind ? UINT64_MAX : map->at;
}
