/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_STRING_SET_H
#define BPFPROFIL_STRING_SET_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash_index.h"

/* Stores each distinct string once, at a fixed address. All zero is an empty set. */
struct string_set {
	char **all;
	size_t nr, room;
	struct hash_index index;
	size_t bytes; /* of all strings */
};

/* Longer strings are cut, and end in "...". */
enum { STRING_SET_LONGEST = 4095 };

/* Returns the set's copy of the string. NULL: there is no memory, or the set is full. */
const char *string_set_add(struct string_set *set, const char *string);

/*
 * Does the same, but returns the string's number, from 1; 0: there is no memory, or the set is
 * full.
 */
uint32_t string_set_number(struct string_set *set, const char *string);
void string_set_free(struct string_set *set);

#endif
