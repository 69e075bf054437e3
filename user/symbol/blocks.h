/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_BLOCKS_H
#define BPFPROFIL_BLOCKS_H

#include <stdbool.h>

#include "symbol/code.h"

/* An instruction of some text, at bytes from its start. */
struct block_instruction {
	uint32_t at;
	bool first; /* of a basic block: those of one run as often as each other */
};

/*
 * The instructions of code that stands at address, ascending; the caller frees them. Blocks end at
 * jumps, at returns and before what a jump in the code leads to, but not at calls; where a table of
 * addresses leads to is not known. -ENOTSUP: of a processor that we do not disassemble.
 */
int blocks_find(const struct code *code, uint64_t address, struct block_instruction **ret,
		size_t *nr, struct error *err);

#endif
