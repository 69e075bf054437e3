/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_UNWIND_TABLE_H
#define BPFPROFIL_UNWIND_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "elf/elf_image.h"
#include "shared/unwind.h"

/*
 * Limits, because anybody can map a file as text, and root reads it. Time and memory are linear in
 * the bytes that are read. Therefore time needs no other limit. Text beyond a limit has no rules,
 * and earlier text keeps its own, as in any file with undescribed assembly code.
 */
enum {
	UNWIND_BYTES_MAX = 64 << 20, /* of call-frame information; libLLVM has 5 MiB */
	UNWIND_ROWS_MAX = 4 << 20, /* libLLVM has 842,173 */
	UNWIND_SEGMENTS_MAX = 16, /* of text; each function searches them; files have one */
	UNWIND_GRANULES_MAX = 8 << 20, /* the 2 GiB of x86-64's small code model */
};

/* By words: a hash by bytes took a quarter of the whole time. */
static inline uint32_t unwind_rule_hash(const struct unwind_rule *rule)
{
	uint64_t words[2];

	memcpy(words, rule, sizeof(words));
	words[0] = (words[0] ^ words[1] * 0x9e3779b97f4a7c15ULL) * 0x9e3779b97f4a7c15ULL;
	return (uint32_t)(words[0] >> 40);
}

/* See shared/unwind.h. Offsets are file offsets. */
struct unwind_table {
	uint32_t *rows;
	size_t row_count; /* 0: the file does not describe frames */
	uint32_t *index; /* first row of each granule, and row_count at the end */
	uint32_t first_granule;
	size_t granule_count;
	struct unwind_rule *rules; /* without duplicates */
	size_t rule_count;
	size_t functions; /* descriptions in the table; the skipped ones are: */
	size_t malformed;
	size_t outside; /* outside of text, like functions that the linker removed */
	size_t repeated; /* already described by another one */
	bool cut; /* a limit was reached */
};

/* The part of a file's text from Go's compiler. */
struct unwind_go {
	uint64_t offset;
	uint64_t size; /* 0: none */
};

/*
 * Reads .eh_frame, and .debug_frame for functions that .eh_frame lacks. Of a vDSO with neither, it
 * finds the leaf functions. Reads at most bytes_max bytes, or UNWIND_BYTES_MAX. -ENOTSUP: the file
 * is for another processor, or has too many segments; -ENOMEM.
 */
int unwind_table_read(const struct elf_image *image, uint64_t bytes_max, const struct unwind_go *go,
		      struct unwind_table *result, struct error *err);
void unwind_table_free(struct unwind_table *table);

#endif
