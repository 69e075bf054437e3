/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_DISASM_H
#define BPFPROFIL_DISASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Machine code as text. disasm.c has everything that depends on the processor. */

enum disasm_syntax { DISASM_ATT, DISASM_INTEL }; /* for x86; other processors have one syntax */

struct disasm;

struct instruction {
	uint32_t size; /* at least 1 */
	bool is_jump; /* not a call: the target may be in the function */
	bool is_return;
	bool has_target; /* of a direct jump or call */
	uint64_t target;
	char text[192]; /* ".byte 0x06" if capstone does not know the instruction */
};

/* Loads capstone, which disasm_open() needs. Returns 0 or -ENOENT. */
int disasm_load(struct error *err);

/* machine: e_machine of the ELF header. -ENOTSUP: we cannot disassemble this processor. */
int disasm_open(uint16_t machine, enum disasm_syntax syntax, struct disasm **result,
		struct error *err);

/* Decodes the instruction at the start of bytes; size is above 0. */
void disasm_next(struct disasm *disasm, const uint8_t *bytes, size_t size, uint64_t address,
		 struct instruction *result);

void disasm_close(struct disasm *disasm); /* NULL is fine */

#endif
