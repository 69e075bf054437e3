/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_NEAREST_H
#define BPFPROFIL_NEAREST_H

#include <stddef.h>

/*
 * Returns the word of a NULL-terminated list that a user most likely meant; NULL: none is near. A
 * word is near if it begins with the typed text, or if at most a third of its letters differ.
 */
const char *nearest_word(const char *typed, const char *const *words);

/* The number of letters to insert, delete, replace or swap; SIZE_MAX for long words. */
size_t word_distance(const char *a, const char *b);

/* Names that a user may have meant. */
struct names {
	char **list;
	size_t nr;
	size_t capacity;
};

/* Adds a copy of the first length bytes of name. */
int names_add(struct names *names, const char *name, size_t length);
const char *names_nearest(struct names *names, const char *typed); /* or NULL */
void names_free(struct names *names);
#define cleanup_names __attribute__((cleanup(names_free)))

#endif
