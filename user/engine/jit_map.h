/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_JIT_MAP_H
#define BPFPROFIL_JIT_MAP_H

#include <stddef.h>
#include <stdint.h>

/*
 * A perf map, or a dump of just-in-time code, read while its process writes it: what lies where now. The process may write anything,
 * at any rate: each reading is bounded, and so is what is remembered.
 */
struct jit_map;

/* As its line says. */
struct jit_code {
	uint64_t start;
	uint64_t size;
	uint64_t time; /* since when it lies there, by CLOCK_MONOTONIC; 0: not known */
	uint64_t line; /* where its name stands in the file */
	uint32_t name_length;
	uint32_t name_sum; /* of that name, for who reads it there again */
};

enum {
	JIT_READ_MAX = 1 << 20, /* bytes of one reading */
	JIT_CODE_MAX = 16 << 20, /* bytes of a function: more is a region, which others lie in */
};

/* fd becomes the map's. NULL: out of memory, and it is still the caller's. */
struct jit_map *jit_map_new(int fd);
void jit_map_free(struct jit_map *map, size_t *room); /* NULL is fine */

/*
 * As often as code begins to lie where other code has been until then, and when by CLOCK_MONOTONIC, 0
 * where the file does not say. Not 0: out of memory.
 */
typedef int (*jit_replaced)(void *ctx, const struct jit_code *code, uint64_t time);

/*
 * Reads on, and takes from *room, that of all maps, one for each function remembered. 0: all that was
 * there; 1: there is more; -E2BIG: no room, and nothing is remembered from then on; or -errno.
 */
int jit_map_read(struct jit_map *map, size_t *room, jit_replaced replaced, void *ctx);

/* NULL: out of memory, or the file no longer says so. The caller frees it. */
char *jit_map_name(const struct jit_map *map, const struct jit_code *code);

int jit_map_fd(const struct jit_map *map);

/* Bytes of the file that were read; UINT64_MAX where it is not followed. */
uint64_t jit_map_at(const struct jit_map *map);

#endif
