// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "calls/sparse.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

struct sparse_page *sparse_page(struct sparse *sparse, uint64_t index)
{
	size_t low = 0, high = sparse->nr;
	struct sparse_page *page;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sparse->pages[middle]->index < index)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < sparse->nr && sparse->pages[low]->index == index)
		return sparse->pages[low];
	page = calloc(1, sizeof(*page));
	if (!page || grow((void **)&sparse->pages, &sparse->capacity, sparse->nr + 1,
			  sizeof(*sparse->pages))) {
		free(page);
		return NULL;
	}
	page->index = index;
	memmove(sparse->pages + low + 1, sparse->pages + low,
		(sparse->nr - low) * sizeof(*sparse->pages));
	sparse->pages[low] = page;
	sparse->nr++;
	return page;
}

void sparse_free(struct sparse *sparse)
{
	size_t i;

	for (i = 0; i < sparse->nr; i++)
		free(sparse->pages[i]);
	free(sparse->pages);
	memset(sparse, 0, sizeof(*sparse));
}
