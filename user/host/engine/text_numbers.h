/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TEXT_NUMBERS_H
#define BPFPROFIL_TEXT_NUMBERS_H

#include <stdint.h>

#include "shared/callers_abi.h"

/*
 * The numbers of texts. The programs allocate them when they first see a text, and user space frees
 * them: see bpf/texts.bpf.h. The session owns the maps.
 */
struct text_numbers {
	struct rules_of_text *places; /* by number */
	struct owner *owners;
	struct table_state *state;
	int free_fd; /* numbers that may be used again */
	uint32_t nr;
};

/* Allocates a number, charged to the owner of `like`; 0: there is none. */
uint32_t text_numbers_alloc(const struct text_numbers *numbers, uint32_t like);

/* Frees a number that no program and no node has any more. */
void text_numbers_free(const struct text_numbers *numbers, uint32_t text);

#endif
