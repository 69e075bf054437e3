// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/jit_dump.h"

#include <errno.h>
#include <string.h>

#define MAGIC 0x4a695444U
#define FLAG_ARCH_TIMESTAMP 1U /* timestamps are from an unknown clock */

/* See linux/tools/perf/Documentation/jitdump-specification.txt. */
struct header {
	uint32_t magic;
	uint32_t version;
	uint32_t size;
	uint32_t machine;
	uint32_t pad;
	uint32_t pid;
	uint64_t time;
	uint64_t flags;
};

struct prefix {
	uint32_t id;
	uint32_t size;
	uint64_t time;
};

struct load {
	struct prefix prefix;
	uint32_t pid;
	uint32_t tid;
	uint64_t vma;
	uint64_t start;
	uint64_t size;
	uint64_t index;
};

struct move {
	struct prefix prefix;
	uint32_t pid;
	uint32_t tid;
	uint64_t vma;
	uint64_t from;
	uint64_t start;
	uint64_t size;
	uint64_t index;
};

enum { ID_LOAD, ID_MOVE };

_Static_assert(sizeof(struct header) == JIT_DUMP_HEADER, "the header has no padding");
_Static_assert(sizeof(struct load) == 56 && sizeof(struct move) == 64, "nor have records");

size_t jit_dump_header(const char *bytes, size_t nr, bool *has_time)
{
	struct header header;

	if (nr < sizeof(header))
		return 0;
	memcpy(&header, bytes, sizeof(header));
	if (header.magic != MAGIC || header.size < sizeof(header) || header.size > 4096)
		return 0;
	*has_time = !(header.flags & FLAG_ARCH_TIMESTAMP);
	return header.size;
}

static ssize_t read_load(const char *bytes, size_t nr, size_t whole, struct jit_record *result)
{
	const char *name = bytes + sizeof(struct load), *end;
	size_t room = whole < nr ? whole : nr;
	struct load load;

	if (whole <= sizeof(load))
		return -EINVAL;
	if (nr <= sizeof(load))
		return 0;
	memcpy(&load, bytes, sizeof(load));
	end = memchr(name, '\0', room - sizeof(load));
	if (!end && whole > nr && nr < JIT_RECORD_PREFIX)
		return 0;
	*result = (struct jit_record){ .kind = JIT_LOAD,
				       .time = load.prefix.time,
				       .index = load.index,
				       .start = load.start,
				       .size = load.size,
				       .name = name };
	result->name_length = (size_t)((end ? end : bytes + room) - name);
	return (ssize_t)whole;
}

static ssize_t read_move(const char *bytes, size_t nr, size_t whole, struct jit_record *result)
{
	struct move move;

	if (whole < sizeof(move))
		return -EINVAL;
	if (nr < sizeof(move))
		return 0;
	memcpy(&move, bytes, sizeof(move));
	*result = (struct jit_record){ .kind = JIT_MOVE,
				       .time = move.prefix.time,
				       .index = move.index,
				       .from = move.from,
				       .start = move.start,
				       .size = move.size };
	return (ssize_t)whole;
}

ssize_t jit_dump_record(const char *bytes, size_t nr, struct jit_record *result)
{
	struct prefix prefix;

	*result = (struct jit_record){ .kind = JIT_OTHER };
	if (nr < sizeof(prefix))
		return 0;
	memcpy(&prefix, bytes, sizeof(prefix));
	if (prefix.size < sizeof(prefix))
		return -EINVAL;
	if (prefix.id == ID_LOAD)
		return read_load(bytes, nr, prefix.size, result);
	if (prefix.id == ID_MOVE)
		return read_move(bytes, nr, prefix.size, result);
	return (ssize_t)prefix.size;
}
