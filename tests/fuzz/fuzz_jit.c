// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A perf map or a dump that is followed while it is written; the first byte says where the first of
 * two writes ends. Remembered entries must not overlap, and all their room must be given back.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/engine/jit_map.h"

#define ROOM 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct jit_map *map;

static int look(void *ctx, const struct jit_code *code, uint64_t time)
{
	size_t *replaced = ctx;
	char *name = jit_map_name(map, code);

	(void)time;
	if (!name || !code->size || code->size > JIT_CODE_MAX ||
	    code->start > UINT64_MAX - code->size)
		abort();
	free(name);
	++*replaced;
	return 0;
}

static void write_all(int fd, const uint8_t *data, size_t size)
{
	if (write(fd, data, size) != (ssize_t)size)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t room = ROOM, replaced = 0, first;
	int fd;

	if (!size)
		return 0;
	first = (size - 1) * data[0] / 255;
	fd = memfd_create("map", MFD_CLOEXEC);
	map = jit_map_new(dup(fd));
	if (fd < 0 || !map)
		abort();
	write_all(fd, data + 1, first);
	jit_map_read(map, &room, look, &replaced);
	write_all(fd, data + 1 + first, size - 1 - first);
	jit_map_read(map, &room, look, &replaced);
	if (room > ROOM)
		abort();
	jit_map_free(map, &room);
	close(fd);
	if (room != ROOM)
		abort();
	return 0;
}
