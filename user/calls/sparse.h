/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SPARSE_H
#define BPFPROFIL_SPARSE_H

#include <stddef.h>
#include <stdint.h>

#include "shared/call_abi.h"

/* An array of numbers that are mostly 0, in pages that are allocated on first use. */
struct sparse_page {
	uint64_t index;
	uint64_t values[PAGE_COUNTERS];
};

struct sparse {
	struct sparse_page **pages; /* ascending by index */
	size_t nr;
	size_t capacity;
};

/* Returns the page of values from index * PAGE_COUNTERS on. NULL: out of memory. */
struct sparse_page *sparse_page(struct sparse *sparse, uint64_t index);

void sparse_free(struct sparse *sparse);

/*
 * How often each pc was sampled. Memory grows with the number of different pcs, not with samples.
 */
struct pc_count {
	uint64_t pc;
	uint64_t count;
};

struct pcs {
	struct pc_count *list;
	size_t nr;
	size_t capacity;
	size_t sorted; /* the first `sorted` elements ascend, without duplicates */
};

int pcs_add(struct pcs *pcs, uint64_t pc); /* 0 or -ENOMEM */

/* Sorts all elements, and combines duplicates. */
void pcs_sort(struct pcs *pcs);

void pcs_free(struct pcs *pcs);

#endif
