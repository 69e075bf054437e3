/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_EXTENTS_H
#define BPFPROFIL_EXTENTS_H

#include <stddef.h>
#include <stdint.h>

/* Allocates parts of a shared array. */
struct extent {
	uint32_t first;
	uint32_t nr;
};

struct extents {
	struct extent *list; /* free extents, ascending, never adjacent */
	size_t nr;
	size_t capacity;
	size_t used; /* extents in use */
};

/* All elements are free. 0 or -ENOMEM */
int extents_init(struct extents *extents, uint32_t elements);

/* Allocates nr elements. Returns the first one's index, or -ENOSPC or -ENOMEM. */
int64_t extents_alloc(struct extents *extents, uint32_t nr);

/* Frees an extent. This cannot fail, because room for it was reserved when it was allocated. */
void extents_release(struct extents *extents, uint32_t first, uint32_t nr);

void extents_free(struct extents *extents);

#endif
