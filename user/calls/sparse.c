// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "calls/sparse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

struct sparse_page *sparse_page(struct sparse *sparse, uint64_t index)
{
	size_t at = BISECT(i, sparse->nr, sparse->pages[i]->index < index);
	struct sparse_page *page;

	if (at < sparse->nr && sparse->pages[at]->index == index)
		return sparse->pages[at];
	page = calloc(1, sizeof(*page));
	if (!page || GROW(sparse->pages, sparse->capacity, sparse->nr + 1)) {
		free(page);
		return NULL;
	}
	page->index = index;
	memmove(sparse->pages + at + 1, sparse->pages + at,
		(sparse->nr - at) * sizeof(*sparse->pages));
	sparse->pages[at] = page;
	sparse->nr++;
	return page;
}

void sparse_free(struct sparse *sparse)
{
	free_all(sparse->pages, sparse->nr);
	memset(sparse, 0, sizeof(*sparse));
}

DEFINE_COMPARE(by_pc, struct pc_count, pc)

static void add_count(void *sum, const void *pc)
{
	((struct pc_count *)sum)->count += ((const struct pc_count *)pc)->count;
}

void pcs_sort(struct pcs *pcs)
{
	pcs->nr = pcs->sorted = COMBINE(pcs->list, pcs->nr, by_pc, add_count);
}

int pcs_add(struct pcs *pcs, uint64_t pc)
{
	/* Sort each time the number has doubled, so that a sample costs little on average. */
	if (pcs->nr == pcs->capacity && pcs->nr >= 2 * pcs->sorted)
		pcs_sort(pcs);
	return PUSH(pcs->list, pcs->capacity, pcs->nr, (struct pc_count){ pc, 1 });
}

void pcs_free(struct pcs *pcs)
{
	free(pcs->list);
}
