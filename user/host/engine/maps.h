/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_MAPS_H
#define BPFPROFIL_MAPS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct bpf_map;

/*
 * Sets the size of a map before load, when this cannot fail. An unused map has 1: the kernel
 * refuses 0.
 */
void map_set_entries(struct bpf_map *map, size_t entries);

/* A BPF array with BPF_F_MMAPABLE, mapped here. */
struct mapped_array {
	void *at; /* NULL: it is not mapped */
	size_t size;
};

/* protection is as for mmap(). */
int mapped_array_open(struct bpf_map *map, int protection, struct mapped_array *result,
		      struct error *err);
void mapped_array_close(struct mapped_array *array);

/*
 * An array that BPF programs and user space share, and that can grow. It has elements of
 * `element_size` bytes: the first `base` of them are in a map that is made at load, the others in
 * chunks that are added to an array of maps. It is mapped for reading and writing.
 */
struct chunked_array {
	uint32_t element_size;
	uint32_t base;
	uint32_t chunk; /* elements in a chunk */
	uint32_t limit; /* hard limit of elements; base + a whole number of chunks */
	uint32_t present; /* elements that exist now */
	int outer_fd; /* array of maps, which belongs to the session */
	void **maps; /* [0] the base, then each chunk */
	int *fds; /* of chunks; [0] unused */
	size_t nr_maps;
};

/* Divides bytes, before load. A chunk is added when less than half of one is free. */
void chunked_array_plan(struct chunked_array *array, uint64_t bytes, uint32_t size, uint32_t base,
			uint32_t chunk);

/* Maps a map of elements; for the base, fd stays the caller's. */
int chunked_array_map(struct chunked_array *array, int fd, uint32_t elements, struct error *err);

/* Adds chunks until `next` is below the mark, or the limit is reached. */
int chunked_array_grow(struct chunked_array *array, uint32_t next, struct error *err);

/* The number at which programs should request more; UINT32_MAX at the limit. */
uint32_t chunked_array_low(const struct chunked_array *array);

/* An element in place, or NULL. Another thread may be adding elements meanwhile. */
void *chunked_array_at(const struct chunked_array *array, uint32_t number);

void chunked_array_free(struct chunked_array *array);

/*
 * Sets the element of a map of type BPF_MAP_TYPE_TASK_STORAGE for the task of a pidfd. The kernel
 * returns EAGAIN while another program, even of another profiler, makes the task's first record or
 * deletes its last one. Then this tries again. Returns 0 or a negative errno.
 */
int task_storage_set(int map_fd, int pid_fd, const void *value);

/*
 * Waits until every BPF program that runs now has ended. The kernel waits for running programs
 * before an update of an outer map returns (commit 1ae80cf31938, "bpf: wait for running BPF
 * programs when updating map-in-map", 4.20). membarrier() would do the same, but not with nohz_full
 * CPUs.
 */
struct grace_period {
	int fd; /* a map whose updates wait; -1: not made yet */
	int inner_fd;
};

void grace_period_init(struct grace_period *grace);

/* Returns 0, or a negative errno if the map cannot be made. */
int grace_period_wait(struct grace_period *grace);

void grace_period_free(struct grace_period *grace);

#endif
