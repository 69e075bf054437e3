/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TEXT_NUMBERS_H
#define BPFPROFIL_TEXT_NUMBERS_H

#include <stdint.h>

#include "shared/callers_abi.h"

/*
 * The numbers of texts, which the programs give out as they meet texts, and user space gives back: see
 * bpf/texts.bpf.h. The maps stay the session's.
 */
struct text_numbers {
	struct rules_of_text *places; /* by number */
	struct owner *owners;
	struct callers_state *state;
	int free_fd; /* numbers that may be given out again */
	uint32_t nr;
};

/* An unused number, which is charged to the owner of another one; 0: there is none. */
uint32_t text_numbers_take(const struct text_numbers *numbers, uint32_t like);

/* Gives a number back that no program and no node has any more. */
void text_numbers_give(const struct text_numbers *numbers, uint32_t text);

#endif
