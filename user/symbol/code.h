/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CODE_H
#define BPFPROFIL_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "symbol/disasm.h"

/* The bytes of some text, and their processor. */
struct code {
	uint8_t *bytes;
	size_t size; /* up to the segment's end, so maybe less than wanted */
	uint16_t machine; /* e_machine */
};

/* Longer than any compiled function; a file may claim any length. */
#define CODE_MAX (1U << 20)

/*
 * Reads from an ELF file at a file offset. The caller keeps fd, and frees ret->bytes. size <=
 * CODE_MAX.
 */
int code_read_file(int fd, uint64_t offset, size_t size, struct code *result, struct error *err);

/* Reads from an ELF image in memory, such as the vdso. */
int code_read_memory(const void *image, size_t image_size, uint64_t offset, size_t size,
		     struct code *result, struct error *err);

/* Reads from the running kernel at an address. path is /proc/kcore. */
int code_read_kcore(const char *path, uint64_t address, size_t size, struct code *result,
		    struct error *err);

/* An instruction. `at` is in bytes from the start of the text. */
struct block_instruction {
	uint32_t at;
	bool first; /* of a basic block, whose instructions all run equally often */
};

/*
 * Finds the blocks of `size` bytes of code at address, with these instructions. The result ascends;
 * the caller frees it. A block ends at a jump, at a return, and before the target of a jump in the
 * code, but not at a call. Targets in jump tables are unknown. NULL: out of memory.
 */
struct block_instruction *blocks_find(const struct instruction *instructions, size_t nr,
				      size_t size, uint64_t address);

#endif
