/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_POOL_H
#define BPFPROFIL_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "shared/abi.h"

/*
 * User space's side of the counter memory: how much there may be, adding chunks before they are
 * needed, and reading it in place. `elements` of `element_size` bytes; the first `base` of them
 * in one map that is made at load, the rest in chunks that are added to an array of maps.
 */
struct shelf {
	uint32_t element_size;
	uint32_t base;
	uint32_t chunk; /* elements in a chunk */
	uint32_t limit; /* hard limit of elements; base + a whole number of chunks */
	uint32_t present; /* elements there are */
	uint32_t ahead; /* ask for more when fewer than these are left */
	int outer_fd; /* array of maps; the session's */
	void **maps; /* [0] the base, then each chunk */
	int *fds; /* of chunks; [0] unused */
	size_t nr_maps;
};

struct pool {
	struct shelf pages;
	struct shelf dirs;
	struct pool_state *state; /* shared with the programs */
};

/* Divides memory, before load. cpus * hz is how fast new text can come. */
int pool_plan(struct pool *pool, uint64_t memory, uint32_t cpus, double hz, struct error *err);

/* Maps what load has made, and sets the marks in state. fds stay the caller's. */
int pool_bind(struct pool *pool, int pages_fd, int page_chunks_fd, int dirs_fd, int dir_chunks_fd,
	      struct pool_state *state, struct error *err);

/* Answers a request of the programs. At the limit it does nothing. */
int pool_grow(struct pool *pool, struct error *err);

/* An element in place; NULL when there is none. */
const struct counter_page *pool_page(const struct pool *pool, uint32_t number);
const struct window_dir *pool_dir(const struct pool *pool, uint32_t number);

/* Bytes of kernel memory there are now. */
uint64_t pool_bytes(const struct pool *pool);

void pool_free(struct pool *pool);

#endif
