/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_MAP_KINDS_BPF_H
#define BPFPROFIL_MAP_KINDS_BPF_H

/* The kinds of maps that the programs declare. A map of one element gets its size before load. */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#define ARRAY_WITH_FLAGS(name, flags, value_type, entries)                                         \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_ARRAY);                                                  \
		__uint(map_flags, flags);                                                          \
		__uint(max_entries, entries);                                                      \
		__type(key, u32);                                                                  \
		__type(value, value_type);                                                         \
	} name SEC(".maps")

#define ARRAY(name, value_type, entries) ARRAY_WITH_FLAGS(name, 0, value_type, entries)

/*
 * User space maps it instead of looking elements up. It starts on a page, and therefore an element
 * of 64 bytes is one cache line.
 */
#define MAPPED_ARRAY(name, value_type, entries)                                                    \
	ARRAY_WITH_FLAGS(name, BPF_F_MMAPABLE, value_type, entries)

/* Elements are allocated as they come. */
#define HASH(name, key_type, value_type, entries)                                                  \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_HASH);                                                   \
		__uint(map_flags, BPF_F_NO_PREALLOC);                                              \
		__uint(max_entries, entries);                                                      \
		__type(key, key_type);                                                             \
		__type(value, value_type);                                                         \
	} name SEC(".maps")

/* Goes away with its task. Therefore a reused pid is never mistaken for the old one. */
#define TASK_STORAGE(name, value_type)                                                             \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_TASK_STORAGE);                                           \
		__uint(map_flags, BPF_F_NO_PREALLOC);                                              \
		__type(key, int);                                                                  \
		__type(value, value_type);                                                         \
	} name SEC(".maps")

/* Numbers that were in use and are free again, first in first out. */
#define FREE_NUMBERS(name, entries)                                                                \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_QUEUE);                                                  \
		__uint(max_entries, entries);                                                      \
		__type(value, u32);                                                                \
	} name SEC(".maps")

/*
 * A map of arrays that user space maps and adds while the programs run. Key and value of the arrays
 * are declared by size and not by type, because 6.1 does not accept a map with BTF in place of one
 * without.
 */
#define ADDED_ARRAYS(name, array, flags, value_type, array_entries, entries)                       \
	struct array {                                                                             \
		__uint(type, BPF_MAP_TYPE_ARRAY);                                                  \
		__uint(map_flags, BPF_F_MMAPABLE | (flags));                                       \
		__uint(max_entries, array_entries);                                                \
		__uint(key_size, sizeof(u32));                                                     \
		__uint(value_size, sizeof(value_type));                                            \
	};                                                                                         \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);                                          \
		__uint(max_entries, entries);                                                      \
		__type(key, u32);                                                                  \
		__array(values, struct array);                                                     \
	} name SEC(".maps")

/*
 * An element of an array. The first elements are in a map of their own, and the others in chunks.
 */
static __always_inline void *in_chunk(void *chunks, u32 number, const volatile u32 *first, u32 many)
{
	u32 chunk = (number - *first) / many, slot = (number - *first) % many;
	void *inner = bpf_map_lookup_elem(chunks, &chunk);

	return inner ? bpf_map_lookup_elem(inner, &slot) : NULL;
}

#endif
