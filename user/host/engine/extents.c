// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/engine/extents.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

int extents_init(struct extents *extents, uint32_t elements)
{
	memset(extents, 0, sizeof(*extents));
	if (GROW(extents->list, extents->capacity, 1))
		return -ENOMEM;
	extents->list[extents->nr++] = (struct extent){ 0, elements };
	return 0;
}

static void remove_extent(struct extents *extents, size_t at)
{
	extents->nr--;
	memmove(extents->list + at, extents->list + at + 1,
		(extents->nr - at) * sizeof(*extents->list));
}

int64_t extents_alloc(struct extents *extents, uint32_t nr)
{
	uint32_t first;
	size_t i;

	/* Reserve room here, because each extent that is freed adds at most one element. */
	if (GROW(extents->list, extents->capacity, extents->nr + extents->used + 1))
		return -ENOMEM;
	for (i = 0; i < extents->nr; i++) {
		if (extents->list[i].nr < nr)
			continue;
		first = extents->list[i].first;
		extents->list[i].first += nr;
		extents->list[i].nr -= nr;
		if (!extents->list[i].nr)
			remove_extent(extents, i);
		extents->used++;
		return first;
	}
	return -ENOSPC;
}

static int adjacent(const struct extent *a, const struct extent *b)
{
	return a->first + a->nr == b->first;
}

void extents_release(struct extents *extents, uint32_t first, uint32_t nr)
{
	struct extent freed = { first, nr };
	size_t i = 0;

	extents->used--;
	while (i < extents->nr && extents->list[i].first < first)
		i++;
	if (i < extents->nr && adjacent(&freed, &extents->list[i])) {
		freed.nr += extents->list[i].nr;
		remove_extent(extents, i);
	}
	if (i && adjacent(&extents->list[i - 1], &freed)) {
		extents->list[i - 1].nr += freed.nr;
		return;
	}
	memmove(extents->list + i + 1, extents->list + i,
		(extents->nr - i) * sizeof(*extents->list));
	extents->list[i] = freed;
	extents->nr++;
}

void extents_free(struct extents *extents)
{
	free(extents->list);
	memset(extents, 0, sizeof(*extents));
}
