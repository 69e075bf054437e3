/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_BLOCKS_H
#define BPFPROFIL_BLOCKS_H

#include <stdbool.h>

#include "symbol/code.h"

/* An instruction; `at` counts bytes from the start of the text. */
struct block_instruction {
	uint32_t at;
	bool first; /* of a basic block: all instructions of a block run equally often */
};

/*
 * The instructions of code that is at address, in ascending order; the caller frees them. A block
 * ends at a jump, at a return, and before the target of a jump in the code, but not at a call.
 * Targets in jump tables are not known. -ENOTSUP: a processor that we do not disassemble.
 */
int blocks_find(const struct code *code, uint64_t address, struct block_instruction **result,
		size_t *nr, struct error *err);

#endif
