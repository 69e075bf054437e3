// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "engine/shelf.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* No more than this part of all there may be is kept ready. */
#define AHEAD_SHARE 4

void shelf_plan(struct shelf *shelf, uint64_t bytes, uint32_t size, uint32_t base, uint32_t chunk,
		double ahead)
{
	uint64_t elements = bytes / size, whole;

	if (ahead > (double)elements / AHEAD_SHARE)
		ahead = (double)elements / AHEAD_SHARE;
	shelf->element_size = size;
	shelf->chunk = chunk;
	shelf->base = base < ahead ? ahead : base;
	if (elements < shelf->base)
		shelf->base = elements;
	whole = (elements - shelf->base) / chunk * chunk;
	if (whole > UINT32_MAX - 2 * chunk - shelf->base)
		whole = (UINT32_MAX - 2 * chunk - shelf->base) / chunk * chunk;
	shelf->limit = shelf->base + whole;
	shelf->ahead = ahead > chunk / 2 ? ahead : chunk / 2;
}

static size_t shelf_bytes(const struct shelf *shelf, uint32_t elements)
{
	size_t page = sysconf(_SC_PAGESIZE);

	return ((size_t)elements * shelf->element_size + page - 1) / page * page;
}

/* Of all maps there may be: who looks up an element does not wait for who adds some. */
static int make_slots(struct shelf *shelf, struct error *err)
{
	size_t slots = 1 + (shelf->limit - shelf->base) / shelf->chunk;

	if (shelf->maps)
		return 0;
	shelf->maps = calloc(slots, sizeof(*shelf->maps));
	shelf->fds = calloc(slots, sizeof(*shelf->fds));
	return shelf->maps && shelf->fds ? 0 : error_no_memory(err, "counters");
}

int shelf_map(struct shelf *shelf, int fd, uint32_t elements, struct error *err)
{
	void *map;

	if (make_slots(shelf, err))
		return -ENOMEM;
	map = mmap(NULL, shelf_bytes(shelf, elements), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return error_errno(err, -errno, "counters: mmap");
	shelf->maps[shelf->nr_maps] = map;
	shelf->fds[shelf->nr_maps++] = fd;
	__atomic_store_n(&shelf->present, shelf->present + elements, __ATOMIC_RELEASE);
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

uint32_t shelf_low(const struct shelf *shelf)
{
	if (shelf->present >= shelf->limit)
		return UINT32_MAX;
	return shelf->present > shelf->ahead ? shelf->present - shelf->ahead : 0;
}

int shelf_grow(struct shelf *shelf, uint32_t next, struct error *err)
{
	int ret = 0;

	while (!ret && next >= shelf_low(shelf))
		ret = shelf_add(shelf, err);
	return ret;
}

void *shelf_at(const struct shelf *shelf, uint32_t number)
{
	size_t map = 0;

	if (number >= __atomic_load_n(&shelf->present, __ATOMIC_ACQUIRE))
		return NULL;
	if (number >= shelf->base) {
		map = 1 + (number - shelf->base) / shelf->chunk;
		number = (number - shelf->base) % shelf->chunk;
	}
	return (char *)shelf->maps[map] + (size_t)number * shelf->element_size;
}

void shelf_free(struct shelf *shelf)
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
