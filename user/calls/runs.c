// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "calls/runs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

int runs_init(struct runs *runs, uint32_t elements)
{
	memset(runs, 0, sizeof(*runs));
	if (grow((void **)&runs->list, &runs->capacity, 1, sizeof(*runs->list)))
		return -ENOMEM;
	runs->list[runs->nr++] = (struct run){ 0, elements };
	return 0;
}

static void remove_run(struct runs *runs, size_t at)
{
	runs->nr--;
	memmove(runs->list + at, runs->list + at + 1, (runs->nr - at) * sizeof(*runs->list));
}

int64_t runs_take(struct runs *runs, uint32_t nr)
{
	uint32_t first;
	size_t i;

	/* Each run that is given back adds at most one to the free ones. */
	if (grow((void **)&runs->list, &runs->capacity, runs->nr + runs->taken + 1,
		 sizeof(*runs->list)))
		return -ENOMEM;
	for (i = 0; i < runs->nr; i++) {
		if (runs->list[i].nr < nr)
			continue;
		first = runs->list[i].first;
		runs->list[i].first += nr;
		runs->list[i].nr -= nr;
		if (!runs->list[i].nr)
			remove_run(runs, i);
		runs->taken++;
		return first;
	}
	return -ENOSPC;
}

static int adjacent(const struct run *a, const struct run *b)
{
	return a->first + a->nr == b->first;
}

void runs_give(struct runs *runs, uint32_t first, uint32_t nr)
{
	struct run given = { first, nr };
	size_t i = 0;

	runs->taken--;
	while (i < runs->nr && runs->list[i].first < first)
		i++;
	if (i < runs->nr && adjacent(&given, &runs->list[i])) {
		given.nr += runs->list[i].nr;
		remove_run(runs, i);
	}
	if (i && adjacent(&runs->list[i - 1], &given)) {
		runs->list[i - 1].nr += given.nr;
		return;
	}
	memmove(runs->list + i + 1, runs->list + i, (runs->nr - i) * sizeof(*runs->list));
	runs->list[i] = given;
	runs->nr++;
}

void runs_free(struct runs *runs)
{
	free(runs->list);
	memset(runs, 0, sizeof(*runs));
}
