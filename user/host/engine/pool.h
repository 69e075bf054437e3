/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_POOL_H
#define BPFPROFIL_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "host/engine/maps.h"
#include "shared/abi.h"

/*
 * User space's side of the counter memory: it limits the memory, adds to it before it is needed,
 * and reads it in place.
 */
struct pool {
	struct chunked_array pages;
	struct chunked_array dirs;
	uint32_t nr_splits; /* the most processes, threads or cgroups that are told apart */
	struct pool_state *state; /* shared with the programs */
};

/*
 * Divides memory, before load. per_second is how many ticks there may be, each of which may need a
 * page. wide: much of the text is already running, as on a whole host.
 */
int pool_plan(struct pool *pool, uint64_t memory, double per_second, bool wide, struct error *err);

/* Maps what load has made, and sets the marks in state. The fds stay the caller's. */
int pool_bind(struct pool *pool, int pages_fd, int page_chunks_fd, int dirs_fd, int dir_chunks_fd,
	      struct pool_state *state, struct error *err);

/* Answers a request of the programs. At the limit it does nothing. */
int pool_grow(struct pool *pool, struct error *err);

/* Whether so much is in use that room should be made before there is none left. */
bool pool_is_short(const struct pool *pool);

/* An element in place; NULL if there is none. */
struct counter_page *pool_page(const struct pool *pool, uint32_t number);
struct window_dir *pool_dir(const struct pool *pool, uint32_t number);

/* Bytes of kernel memory in use. */
uint64_t pool_bytes(const struct pool *pool);

/* When all is taken: counters that are mapped are memory of this process too. */
void pool_unmap(struct pool *pool);
void pool_free(struct pool *pool);

#endif
