/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_HASH_INDEX_H
#define BPFPROFIL_HASH_INDEX_H

#include <stddef.h>
#include <stdint.h>

/* A hash of the elements of a list. All zero is empty. A slot has an element's index + 1, or 0. */
struct hash_index {
	uint32_t *slots; /* the owner frees it */
	size_t nr; /* a power of two */
};

/*
 * The slot of the element for which a condition on its index holds, or the empty slot where it
 * belongs. For example HASH_SLOT(&index, hash, i, list[i].key == key).
 */
#define HASH_SLOT(index, hash, element, holds)                                                     \
	({                                                                                         \
		const struct hash_index *slot_index = (index);                                     \
		size_t slot_at = (hash) & (slot_index->nr - 1);                                    \
		for (; slot_index->slots[slot_at];                                                 \
		     slot_at = (slot_at + 1) & (slot_index->nr - 1)) {                             \
			const uint32_t element = slot_index->slots[slot_at] - 1;                   \
			if (holds)                                                                 \
				break;                                                             \
		}                                                                                  \
		&slot_index->slots[slot_at];                                                       \
	})

/* Makes room for so many elements. 1: all elements must be entered again. -ENOMEM */
int hash_index_reserve(struct hash_index *index, size_t elements);

/*
 * Does so, too, and enters the elements from `first` to before `end` again if necessary, each in
 * the slot that belongs to its index. Returns 0 or -ENOMEM. For example HASH_RESERVE(&index, nr + 1,
 * i, 0, nr, slot_of(&list[i])).
 */
#define HASH_RESERVE(index, elements, element, first, end, slot)                                   \
	({                                                                                         \
		int reserve_ret = hash_index_reserve(index, elements);                             \
		for (uint32_t element = (first); reserve_ret > 0 && element < (end); element++)    \
			*(slot) = element + 1;                                                     \
		reserve_ret < 0 ? reserve_ret : 0;                                                 \
	})

/* Adds a value to a hash of numbers. It separates them unless somebody chose them to collide. */
static inline uint64_t hash_mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

#endif
