// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/engine/pool.h"

#include <errno.h>
#include <string.h>

/* Less memory would not suffice for any program: this has 64 windows and 56 pages. */
#define MEMORY_MIN (256 * 1024)

/* The share for directories; most windows are hit only in a few of their 128 pages. */
#define DIRS_SHARE 8
#define BASE_WINDOWS 512 /* 64 MiB of text at one byte a bin */
#define SPLITS_MIN 1024 /* at some 110 bytes each */
#define COARSE_SHARE 4 /* share of pages and directories that is reserved for wide bins ... */
#define COARSE_MAX 1024 /* ... but at most this: a page of wide bins serves 1 MiB of text */
#define WIDEST_SHARE 2 /* of these, for the widest: a page serves 64 MiB, or all without memory */

/*
 * How far ahead memory is added. A chunk takes some 30 ms: it is a map, and then a grace period of
 * RCU. On a host that is fully busy, as one that is profiled as a whole may be, it took half a
 * second.
 */
#define AHEAD_SECONDS 0.05
#define AHEAD_SECONDS_WIDE 0.5

int pool_plan(struct pool *pool, uint64_t memory, double per_second, bool wide, struct error *err)
{
	uint64_t dirs = memory / DIRS_SHARE;

	memset(pool, 0, sizeof(*pool));
	if (memory < MEMORY_MIN)
		return error_set(err, -EINVAL,
				 "--memory: %llu bytes are too few, 256K is the least",
				 (unsigned long long)memory);
	chunked_array_plan(&pool->dirs, dirs, sizeof(struct window_dir), BASE_WINDOWS,
			   CHUNK_WINDOWS, 0);
	pool->nr_splits = pool->dirs.limit > SPLITS_MIN ? pool->dirs.limit : SPLITS_MIN;
	chunked_array_plan(&pool->pages, memory - dirs, sizeof(struct counter_page), CHUNK_PAGES,
			   CHUNK_PAGES, per_second * (wide ? AHEAD_SECONDS_WIDE : AHEAD_SECONDS));
	return 0;
}

static uint32_t coarse_elements(const struct chunked_array *array)
{
	uint32_t coarse = array->limit / COARSE_SHARE;

	return coarse < COARSE_MAX ? coarse : COARSE_MAX;
}

/* The element at which those for bins as fine as asked end. */
static uint32_t fine_limit(const struct chunked_array *array)
{
	return array->limit - coarse_elements(array);
}

/* The element at which those for all but the widest bins end. */
static uint32_t wide_limit(const struct chunked_array *array)
{
	return array->limit - coarse_elements(array) / WIDEST_SHARE;
}

/* Room is made when a third is left, which lasts for as long as that takes: see session_spill.c. */
static uint32_t short_mark(uint32_t limit)
{
	return limit - limit / 3;
}

static bool is_used_up(const uint32_t *used, uint32_t mark)
{
	return __atomic_load_n(used, __ATOMIC_RELAXED) >= mark;
}

bool pool_is_short(const struct pool *pool)
{
	const struct pool_state *state = pool->state;

	return is_used_up(&state->pages_used, state->pages_short) ||
	       is_used_up(&state->windows_used, state->windows_short) ||
	       is_used_up(&state->splits_used, state->splits_short);
}

int pool_grow(struct pool *pool, struct error *err)
{
	struct pool_state *state = pool->state;
	int ret;

	ret = chunked_array_grow(&pool->pages, __atomic_load_n(&state->next_page, __ATOMIC_RELAXED),
				 err);
	if (!ret)
		ret = chunked_array_grow(
			&pool->dirs, __atomic_load_n(&state->next_window, __ATOMIC_RELAXED), err);
	/*
	 * Without memory for more, the limit is what there is: bins get coarser, but sampling goes
	 * on.
	 */
	if (ret) {
		pool->pages.limit = pool->pages.present;
		pool->dirs.limit = pool->dirs.present;
	}
	state->page_limit = pool->pages.limit;
	state->fine_limit = fine_limit(&pool->pages);
	state->fine_windows = fine_limit(&pool->dirs);
	state->wide_limit = wide_limit(&pool->pages);
	state->wide_windows = wide_limit(&pool->dirs);
	state->pages_short = short_mark(state->fine_limit);
	state->windows_short = short_mark(state->fine_windows);
	state->splits_short = short_mark(pool->nr_splits);
	state->page_low = chunked_array_low(&pool->pages);
	state->window_low = chunked_array_low(&pool->dirs);
	__atomic_store_n(&state->asked, 0, __ATOMIC_RELEASE);
	return ret;
}

int pool_bind(struct pool *pool, int pages_fd, int page_chunks_fd, int dirs_fd, int dir_chunks_fd,
	      struct pool_state *state, struct error *err)
{
	int ret;

	pool->state = state;
	pool->pages.outer_fd = page_chunks_fd;
	pool->dirs.outer_fd = dir_chunks_fd;
	ret = chunked_array_map(&pool->pages, pages_fd, pool->pages.base, err);
	if (!ret)
		ret = chunked_array_map(&pool->dirs, dirs_fd, pool->dirs.base, err);
	return ret ?: pool_grow(pool, err);
}

struct counter_page *pool_page(const struct pool *pool, uint32_t number)
{
	return chunked_array_at(&pool->pages, number);
}

struct window_dir *pool_dir(const struct pool *pool, uint32_t number)
{
	return chunked_array_at(&pool->dirs, number);
}

uint64_t pool_bytes(const struct pool *pool)
{
	return (uint64_t)pool->pages.present * pool->pages.element_size +
	       (uint64_t)pool->dirs.present * pool->dirs.element_size;
}

void pool_unmap(struct pool *pool)
{
	chunked_array_unmap(&pool->pages);
	chunked_array_unmap(&pool->dirs);
}

void pool_free(struct pool *pool)
{
	chunked_array_free(&pool->pages);
	chunked_array_free(&pool->dirs);
	memset(pool, 0, sizeof(*pool));
}
