/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_WIRE_H
#define BPFPROFIL_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Plain data between this program and the process that reads files: numbers and texts one after the
 * other, in the byte order of the host. Writing fails only for want of memory. Reading takes any bytes:
 * beyond the end, and where a text has no NUL, it yields 0 or "". Either sets `bad`, which the caller checks
 * once at the end.
 */
struct wire {
	uint8_t *bytes;
	size_t nr;
	size_t room;
	size_t at; /* where reading goes on */
	bool bad;
};

void wire_put(struct wire *wire, const void *bytes, size_t size);
void wire_put_u64(struct wire *wire, uint64_t value);
void wire_put_text(struct wire *wire, const char *text); /* NULL is written as "" */

/* The next bytes, in place; NULL: there are not so many. */
const void *wire_get(struct wire *wire, size_t size);
uint64_t wire_get_u64(struct wire *wire);
const char *wire_get_text(struct wire *wire); /* in place; never NULL */

/* A count of elements that take at least `size` bytes each, all of which are there; else 0. */
size_t wire_get_count(struct wire *wire, size_t size);

/* A copy of an array of nr elements, for the caller to free; NULL: bad. Never NULL if nr is 0. */
void *wire_get_array(struct wire *wire, size_t nr, size_t size);

/* The same as strdup() of a text, but NULL for "". */
char *wire_get_copy(struct wire *wire);

void wire_free(struct wire *wire);

#endif
