/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_JIT_MAP_H
#define BPFPROFIL_JIT_MAP_H

#include <stddef.h>
#include <stdint.h>

/*
 * Reads a perf map, or a dump of just-in-time code, while the process writes it, to know which code
 * lies where now. The process may write anything at any rate, so each reading is bounded, and so is
 * what is remembered.
 */
struct jit_map;

/* A piece of code as its line describes it. */
struct jit_code {
	uint64_t start;
	uint64_t size;
	uint64_t time; /* since when it lies there (CLOCK_MONOTONIC); 0: unknown */
	uint64_t read_ns; /* when it was read */
	uint64_t line; /* offset of its name in the file */
	uint32_t name_length;
	uint32_t name_sum; /* checksum of the name, to recognise it when it is read again */
};

enum {
	JIT_READ_MAX = 1 << 20, /* most bytes of one reading */
	JIT_CODE_MAX = 16 << 20, /* bytes of a function: a larger one is a region of functions */
};

/* The map takes over fd. NULL: out of memory; fd then stays the caller's. */
struct jit_map *jit_map_new(int fd);

/* The file is the same, but read by this descriptor from now on, which is taken over. */
void jit_map_renew(struct jit_map *map, int fd);
void jit_map_free(struct jit_map *map, size_t *room); /* NULL is fine */

/*
 * Called each time code begins to lie where other code has been; time is when by CLOCK_MONOTONIC,
 * or 0 if the file does not say. Returns nonzero if out of memory.
 */
typedef int (*jit_replaced)(void *ctx, const struct jit_code *code, uint64_t time);

/*
 * Reads further, and takes one from *room, which all maps share, for each function that it
 * remembers. Returns 0 at the end of what is there, 1 if there is more, -E2BIG if there is no room,
 * after which nothing is remembered, or another -errno.
 */
int jit_map_read(struct jit_map *map, size_t *room, jit_replaced replaced, void *ctx);

/* The caller frees the name. NULL: out of memory, or the file has another name there by now. */
char *jit_map_name(const struct jit_map *map, const struct jit_code *code);

int jit_map_fd(const struct jit_map *map);

/* The number of bytes of the file that were read; UINT64_MAX if the file is not followed. */
uint64_t jit_map_at(const struct jit_map *map);

#endif
