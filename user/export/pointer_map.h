/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_POINTER_MAP_H
#define BPFPROFIL_POINTER_MAP_H

#include <stddef.h>
#include <stdint.h>

/* Maps pairs of pointers to numbers, for instance strings that each have a unique address. */
struct pointer_entry {
	const void *first; /* NULL: the slot is free */
	const void *second;
	uint64_t number;
};

/* All zero is an empty map. */
struct pointer_map {
	struct pointer_entry *slots;
	size_t nr;
	size_t room; /* a power of two */
};

/*
 * A pointer to the pair's number, which is 0 for a new pair; valid until the next call. first must
 * not be NULL. NULL: out of memory.
 */
uint64_t *pointer_map_at(struct pointer_map *map, const void *first, const void *second);

/* Makes the map empty. */
void pointer_map_clear(struct pointer_map *map);

#endif
