/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_WIRE_H
#define BPFPROFIL_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Plain data between this program and the reader: numbers and texts in sequence, in the host's byte
 * order. Writing only fails without memory. Reading accepts any bytes: beyond the end, or for a
 * text without NUL, it returns 0 or "". Both set `bad`, which the caller checks once at the end.
 */
struct wire {
	uint8_t *bytes;
	size_t nr;
	size_t room;
	size_t at; /* the next byte to read */
	bool bad;
};

void wire_put(struct wire *wire, const void *bytes, size_t size);
void wire_put_u64(struct wire *wire, uint64_t value);
void wire_put_text(struct wire *wire, const char *text); /* NULL is written as "" */

/* Returns the next bytes, in place; NULL: there are too few. */
const void *wire_get(struct wire *wire, size_t size);
uint64_t wire_get_u64(struct wire *wire);
const char *wire_get_text(struct wire *wire); /* in place; never NULL */

/* Returns a count of elements of at least `size` bytes each, if all of them are there; else 0. */
size_t wire_get_count(struct wire *wire, size_t size);

/*
 * An array with its number of elements. The copy, which the caller frees, is NULL if it is bad, and
 * never NULL if *nr is 0.
 */
void wire_put_array(struct wire *wire, const void *array, size_t nr, size_t size);
void *wire_get_array(struct wire *wire, size_t *nr, size_t size);

/* Like strdup() of a text, but NULL for "". */
char *wire_get_copy(struct wire *wire);

void wire_free(struct wire *wire);

#endif
