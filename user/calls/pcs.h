/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PCS_H
#define BPFPROFIL_PCS_H

#include <stddef.h>
#include <stdint.h>

/* How often each pc was sampled: memory follows the different ones, not the samples. */
struct pc_count {
	uint64_t pc;
	uint64_t count;
};

struct pcs {
	struct pc_count *list;
	size_t nr;
	size_t capacity;
	size_t sorted; /* the first of them ascend, each once */
};

int pcs_add(struct pcs *pcs, uint64_t pc); /* 0 or -ENOMEM */

/* Afterwards all ascend, each once. */
void pcs_sort(struct pcs *pcs);

void pcs_free(struct pcs *pcs);

#endif
