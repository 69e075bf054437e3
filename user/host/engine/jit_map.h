/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_JIT_MAP_H
#define BPFPROFIL_JIT_MAP_H

#include <stddef.h>
#include <stdint.h>

/*
 * Reads a perf map, or a dump of just-in-time code, while the process writes it, to find the
 * current code at an address. The process may write anything at any rate. Therefore the bytes of
 * one reading and the remembered functions are limited.
 */
struct jit_map;

/* A piece of code as its line describes it. */
struct jit_code {
	uint64_t start;
	uint64_t size;
	uint64_t time; /* when it was written there (CLOCK_MONOTONIC); 0: unknown */
	uint64_t read_ns; /* when it was read */
	uint64_t line; /* offset of its name in the file */
	uint32_t name_length;
	uint32_t name_sum; /* checksum of the name, to check it when it is read again */
};

enum {
	JIT_READ_MAX = 1 << 20, /* most bytes of one reading */
	JIT_CODE_MAX = 16 << 20, /* bytes of a function: a larger one is a region of functions */
};

/* The map owns fd, unless the result is NULL: out of memory. */
struct jit_map *jit_map_new(int fd);

/* Reads the same file by another descriptor, which the map owns. */
void jit_map_renew(struct jit_map *map, int fd);
void jit_map_free(struct jit_map *map, size_t *room); /* NULL is fine */

/*
 * Called when other code replaces a code. time is by CLOCK_MONOTONIC, or 0 if the file has no
 * times. Returns nonzero if out of memory.
 */
typedef int (*jit_replaced)(void *ctx, const struct jit_code *code, uint64_t time);

/*
 * Continues to read, and subtracts each remembered function from *room, which all maps share.
 * Returns 0 at the end, 1 if there is more, -E2BIG without room, after which the file is not
 * followed, or another -errno.
 */
int jit_map_read(struct jit_map *map, size_t *room, jit_replaced replaced, void *ctx);

/* The caller frees the name. NULL: out of memory, or the file has another name there by now. */
char *jit_map_name(const struct jit_map *map, const struct jit_code *code);

int jit_map_fd(const struct jit_map *map);

/* The number of bytes of the file that were read; UINT64_MAX if the file is not followed. */
uint64_t jit_map_at(const struct jit_map *map);

#endif
