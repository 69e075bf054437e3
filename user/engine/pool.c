// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "engine/pool.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Less would hold no program: 64 windows and 56 pages. */
#define MEMORY_MIN (256 * 1024)

/* Most windows are hit in a few of their 128 pages only. */
#define DIRS_SHARE 8
#define BASE_WINDOWS 512 /* 64 MiB of text at one byte a bin */
#define COARSE_SHARE 4 /* of pages and directories is kept for wide bins ... */
#define COARSE_MAX 1024 /* ... but no more: a page of wide bins does for 1 MiB of text */

/* A chunk takes some 30 ms to add: a map, then a grace period of RCU. */
#define AHEAD_SECONDS 0.05

static void shelf_plan(struct shelf *shelf, uint64_t bytes, uint32_t size, uint32_t base,
		       uint32_t chunk, double per_second)
{
	uint64_t elements = bytes / size, whole;

	shelf->element_size = size;
	shelf->chunk = chunk;
	shelf->base = elements < base ? elements : base;
	whole = (elements - shelf->base) / chunk * chunk;
	if (whole > UINT32_MAX - 2 * chunk - shelf->base)
		whole = (UINT32_MAX - 2 * chunk - shelf->base) / chunk * chunk;
	shelf->limit = shelf->base + whole;
	shelf->ahead = chunk / 2;
	if (shelf->ahead < per_second * AHEAD_SECONDS)
		shelf->ahead = per_second * AHEAD_SECONDS;
}

int pool_plan(struct pool *pool, uint64_t memory, uint32_t cpus, double hz, struct error *err)
{
	uint64_t dirs = memory / DIRS_SHARE;

	memset(pool, 0, sizeof(*pool));
	if (memory < MEMORY_MIN)
		return error_set(err, -EINVAL,
				 "--memory: %llu bytes are too few, 256K is the least",
				 (unsigned long long)memory);
	shelf_plan(&pool->dirs, dirs, sizeof(struct window_dir), BASE_WINDOWS, CHUNK_WINDOWS, 0);
	shelf_plan(&pool->pages, memory - dirs, sizeof(struct counter_page), CHUNK_PAGES,
		   CHUNK_PAGES, cpus * hz);
	return 0;
}

static size_t shelf_bytes(const struct shelf *shelf, uint32_t elements)
{
	size_t page = sysconf(_SC_PAGESIZE);

	return ((size_t)elements * shelf->element_size + page - 1) / page * page;
}

static int shelf_map(struct shelf *shelf, int fd, uint32_t elements, struct error *err)
{
	size_t slots = shelf->nr_maps + 1;
	void *map, **maps;
	int *fds;

	maps = realloc(shelf->maps, slots * sizeof(*maps));
	if (!maps)
		return error_set(err, -ENOMEM, "counters: out of memory");
	shelf->maps = maps;
	fds = realloc(shelf->fds, slots * sizeof(*fds));
	if (!fds)
		return error_set(err, -ENOMEM, "counters: out of memory");
	shelf->fds = fds;
	map = mmap(NULL, shelf_bytes(shelf, elements), PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return error_errno(err, -errno, "counters: mmap");
	shelf->maps[shelf->nr_maps] = map;
	shelf->fds[shelf->nr_maps++] = fd;
	shelf->present += elements;
	return 0;
}

static int shelf_add(struct shelf *shelf, struct error *err)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	uint32_t slot = shelf->nr_maps - 1;
	int fd, ret;

	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "profil_chunk", sizeof(uint32_t),
			    shelf->element_size, shelf->chunk, &opts);
	if (fd < 0)
		return error_errno(err, fd, "counters: map of %u KiB",
				   shelf->chunk * shelf->element_size / 1024);
	ret = shelf_map(shelf, fd, shelf->chunk, err);
	if (ret) {
		close(fd);
		return ret;
	}
	/* From here on the chunk is released with the shelf. */
	ret = bpf_map_update_elem(shelf->outer_fd, &slot, &fd, BPF_ANY);
	return ret ? error_errno(err, ret, "counters: adding a map") : 0;
}

/* The number from which on the programs ask for more; never at the limit. */
static uint32_t shelf_low(const struct shelf *shelf)
{
	if (shelf->present >= shelf->limit)
		return UINT32_MAX;
	return shelf->present > shelf->ahead ? shelf->present - shelf->ahead : 0;
}

/* Where elements for bins as fine as asked end. */
static uint32_t shelf_fine(const struct shelf *shelf)
{
	uint32_t coarse = shelf->limit / COARSE_SHARE;

	return shelf->limit - (coarse < COARSE_MAX ? coarse : COARSE_MAX);
}

static int shelf_grow(struct shelf *shelf, uint32_t next, struct error *err)
{
	int ret = 0;

	while (!ret && next >= shelf_low(shelf))
		ret = shelf_add(shelf, err);
	return ret;
}

int pool_grow(struct pool *pool, struct error *err)
{
	struct pool_state *state = pool->state;
	int ret;

	ret = shelf_grow(&pool->pages, __atomic_load_n(&state->next_page, __ATOMIC_RELAXED), err);
	if (!ret)
		ret = shelf_grow(&pool->dirs,
				 __atomic_load_n(&state->next_window, __ATOMIC_RELAXED), err);
	/* Without memory for more, what there is becomes the limit: coarser, not an end. */
	if (ret) {
		pool->pages.limit = pool->pages.present;
		pool->dirs.limit = pool->dirs.present;
	}
	state->page_limit = pool->pages.limit;
	state->fine_limit = shelf_fine(&pool->pages);
	state->fine_windows = shelf_fine(&pool->dirs);
	state->page_low = shelf_low(&pool->pages);
	state->window_low = shelf_low(&pool->dirs);
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
	ret = shelf_map(&pool->pages, pages_fd, pool->pages.base, err);
	if (!ret)
		ret = shelf_map(&pool->dirs, dirs_fd, pool->dirs.base, err);
	return ret ?: pool_grow(pool, err);
}

static const void *shelf_at(const struct shelf *shelf, uint32_t number)
{
	size_t map = 0;

	if (number >= shelf->present)
		return NULL;
	if (number >= shelf->base) {
		map = 1 + (number - shelf->base) / shelf->chunk;
		number = (number - shelf->base) % shelf->chunk;
	}
	return (const char *)shelf->maps[map] + (size_t)number * shelf->element_size;
}

const struct counter_page *pool_page(const struct pool *pool, uint32_t number)
{
	return shelf_at(&pool->pages, number);
}

const struct window_dir *pool_dir(const struct pool *pool, uint32_t number)
{
	return shelf_at(&pool->dirs, number);
}

uint64_t pool_bytes(const struct pool *pool)
{
	return (uint64_t)pool->pages.present * pool->pages.element_size +
	       (uint64_t)pool->dirs.present * pool->dirs.element_size;
}

static void shelf_free(struct shelf *shelf)
{
	size_t i;

	for (i = 0; i < shelf->nr_maps; i++) {
		munmap(shelf->maps[i], shelf_bytes(shelf, i ? shelf->chunk : shelf->base));
		if (i)
			close(shelf->fds[i]);
	}
	free(shelf->maps);
	free(shelf->fds);
}

void pool_free(struct pool *pool)
{
	shelf_free(&pool->pages);
	shelf_free(&pool->dirs);
	memset(pool, 0, sizeof(*pool));
}
