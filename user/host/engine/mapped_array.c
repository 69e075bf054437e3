// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/engine/mapped_array.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

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
