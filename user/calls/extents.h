/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_EXTENTS_H
#define BPFPROFIL_EXTENTS_H

#include <stddef.h>
#include <stdint.h>

/* The free extents of an array that is shared: tables of regions come and go in it. */
struct extent {
	uint32_t first;
	uint32_t nr;
};

struct extents {
	struct extent *list; /* free ones, ascending, never adjacent */
	size_t nr;
	size_t capacity;
	size_t taken; /* extents that may come back */
};

int extents_init(struct extents *extents, uint32_t elements); /* 0 or -ENOMEM */

/* Takes nr elements: their first, or -ENOSPC. */
int64_t extents_take(struct extents *extents, uint32_t nr);

/* Gives an extent back that was taken. Room for it was made when it was: it cannot fail. */
void extents_give(struct extents *extents, uint32_t first, uint32_t nr);

void extents_free(struct extents *extents);

#endif
