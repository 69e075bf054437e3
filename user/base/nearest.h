/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_NEAREST_H
#define BPFPROFIL_NEAREST_H

#include <stddef.h>

/*
 * The word of a NULL-terminated list that a user most likely meant, or NULL if none is near. A word
 * is near if it begins with what was typed, or if at most a third of its letters differ.
 */
const char *nearest_word(const char *typed, const char *const *words);

/* The number of letters to insert, delete, replace or swap; SIZE_MAX for long words. */
size_t word_distance(const char *a, const char *b);

#endif
