/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TEXTS_H
#define BPFPROFIL_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/string_set.h"

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

/*
 * Texts for a backend, each once and numbered: UTF-8 without control characters, whatever the names
 * were made of. Number 0 is "". The first lack of memory stays in error.
 */
struct texts {
	struct escaped
		*escaped; /* of one text at a time; it stays in its place when this is copied */
	const char **all;
	size_t nr;
	size_t room;
	struct string_set set;
	struct pointer_map numbers;
	bool labels; /* of a backend: none is longer than TEXT_LABEL - 1 bytes */
	int error; /* -ENOMEM */
};

/* Call texts_end() in any case. Returns 0 or -ENOMEM. */
int texts_begin(struct texts *texts);
void texts_end(struct texts *texts);

/* The number of a text; NULL is "". */
uint32_t texts_add(struct texts *texts, const char *text);

#endif
