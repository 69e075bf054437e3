// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/engine/maps.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"

void map_set_entries(struct bpf_map *map, size_t entries)
{
	bpf_map__set_max_entries(map, (uint32_t)max_size(entries, 1));
}

int mapped_array_open(struct bpf_map *map, int protection, struct mapped_array *result,
		      struct error *err)
{
	size_t page = sysconf(_SC_PAGESIZE);

	/* The kernel places elements at multiples of eight bytes. */
	result->size = (size_t)bpf_map__max_entries(map) * ((bpf_map__value_size(map) + 7) & ~7U);
	result->size = (result->size + page - 1) / page * page;
	result->at = mmap(NULL, result->size, protection, MAP_SHARED, bpf_map__fd(map), 0);
	if (result->at == MAP_FAILED) {
		result->at = NULL;
		return error_errno(err, -errno, "map %s: mmap", bpf_map__name(map));
	}
	return 0;
}

void mapped_array_close(struct mapped_array *array)
{
	if (array->at)
		munmap(array->at, array->size);
	array->at = NULL;
}

void chunked_array_plan(struct chunked_array *array, uint64_t bytes, uint32_t size, uint32_t base,
			uint32_t chunk)
{
	uint64_t elements = bytes / size, whole;

	array->element_size = size;
	array->chunk = chunk;
	array->base = elements < base ? elements : base;
	whole = (elements - array->base) / chunk * chunk;
	if (whole > UINT32_MAX - 2 * chunk - array->base)
		whole = (UINT32_MAX - 2 * chunk - array->base) / chunk * chunk;
	array->limit = array->base + whole;
}

static size_t array_bytes(const struct chunked_array *array, uint32_t elements)
{
	size_t page = sysconf(_SC_PAGESIZE);

	return ((size_t)elements * array->element_size + page - 1) / page * page;
}

/*
 * Allocates slots for all possible maps. Therefore looking up an element does not wait for a thread
 * that adds some.
 */
static int make_slots(struct chunked_array *array, struct error *err)
{
	size_t slots = 1 + (array->limit - array->base) / array->chunk;

	if (array->maps)
		return 0;
	array->maps = calloc(slots, sizeof(*array->maps));
	array->fds = calloc(slots, sizeof(*array->fds));
	return array->maps && array->fds ? 0 : error_no_memory(err, "counters");
}

int chunked_array_map(struct chunked_array *array, int fd, uint32_t elements, struct error *err)
{
	void *map;

	if (make_slots(array, err))
		return -ENOMEM;
	map = mmap(NULL, array_bytes(array, elements), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return error_errno(err, -errno, "counters: mmap");
	array->maps[array->nr_maps] = map;
	array->fds[array->nr_maps++] = fd;
	__atomic_store_n(&array->present, array->present + elements, __ATOMIC_RELEASE);
	return 0;
}

static int add_chunk(struct chunked_array *array, struct error *err)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	uint32_t slot = array->nr_maps - 1;
	int fd, ret;

	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "profil_chunk", sizeof(uint32_t),
			    array->element_size, array->chunk, &opts);
	if (fd < 0)
		return error_errno(err, fd, "counters: map of %u KiB",
				   array->chunk * array->element_size / 1024);
	ret = chunked_array_map(array, fd, array->chunk, err);
	if (ret) {
		close(fd);
		return ret;
	}
	/* From here on the chunk is released with the array. */
	ret = bpf_map_update_elem(array->outer_fd, &slot, &fd, BPF_ANY);
	return ret ? error_errno(err, ret, "counters: adding a map") : 0;
}

uint32_t chunked_array_low(const struct chunked_array *array)
{
	if (array->present >= array->limit)
		return UINT32_MAX;
	return array->present > array->chunk / 2 ? array->present - array->chunk / 2 : 0;
}

int chunked_array_grow(struct chunked_array *array, uint32_t next, struct error *err)
{
	int ret = 0;

	while (!ret && next >= chunked_array_low(array))
		ret = add_chunk(array, err);
	return ret;
}

void *chunked_array_at(const struct chunked_array *array, uint32_t number)
{
	size_t map = 0;

	if (number >= __atomic_load_n(&array->present, __ATOMIC_ACQUIRE))
		return NULL;
	if (number >= array->base) {
		map = 1 + (number - array->base) / array->chunk;
		number = (number - array->base) % array->chunk;
	}
	return (char *)array->maps[map] + (size_t)number * array->element_size;
}

void chunked_array_free(struct chunked_array *array)
{
	size_t i;

	for (i = 0; i < array->nr_maps; i++) {
		munmap(array->maps[i], array_bytes(array, i ? array->chunk : array->base));
		if (i)
			close(array->fds[i]);
	}
	free(array->maps);
	free(array->fds);
}

#define TRIES 100

int task_storage_set(int map_fd, int pid_fd, const void *value)
{
	int ret = -EAGAIN, i;

	for (i = 0; i < TRIES && ret == -EAGAIN; i++)
		ret = bpf_map_update_elem(map_fd, &pid_fd, value, BPF_ANY);
	return ret;
}

void grace_period_init(struct grace_period *grace)
{
	*grace = (struct grace_period){ .fd = -1, .inner_fd = -1 };
}

static int make(struct grace_period *grace)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);

	grace->inner_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "bpfprofil_inner", 4, 4, 1, NULL);
	if (grace->inner_fd < 0)
		return grace->inner_fd;
	opts.inner_map_fd = grace->inner_fd;
	grace->fd = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "bpfprofil_grace", 4, 4, 1, &opts);
	if (grace->fd >= 0)
		return 0;
	close_fd(&grace->inner_fd);
	return grace->fd;
}

int grace_period_wait(struct grace_period *grace)
{
	uint32_t key = 0;
	int ret = grace->fd < 0 ? make(grace) : 0;

	return ret ? ret : bpf_map_update_elem(grace->fd, &key, &grace->inner_fd, BPF_ANY);
}

void grace_period_free(struct grace_period *grace)
{
	close_fd(&grace->fd);
	close_fd(&grace->inner_fd);
}
