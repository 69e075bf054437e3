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
 * Limits, because anybody can map a file as text and root reads it. Time and memory are linear in
 * the bytes that are read, so there is no limit on time besides. Beyond a limit the file has no
 * rules, and what was read until then keeps its own, for so it is in any file of which a part is
 * assembly code that nobody described.
 */
enum {
	UNWIND_BYTES_MAX = 64 << 20, /* of call-frame information; libLLVM has 5 MiB */
	UNWIND_ROWS_MAX = 4 << 20, /* libLLVM has 842,173 */
	UNWIND_SEGMENTS_MAX =
		16, /* of text, each of which is asked for each function; files have one */
	UNWIND_GRANULES_MAX = 8 << 20, /* the 2 GiB that x86-64's small code model can reach */
};

/* By words, because rules are hashed so often that a hash by bytes took a quarter of all the time. */
static inline uint32_t unwind_rule_hash(const struct unwind_rule *rule)
{
	uint64_t words[2];

	memcpy(words, rule, sizeof(words));
	words[0] = (words[0] ^ words[1] * 0x9e3779b97f4a7c15ULL) * 0x9e3779b97f4a7c15ULL;
	return (uint32_t)(words[0] >> 40);
}

/* See shared/unwind.h. Offsets are those in the file. */
struct unwind_table {
	uint32_t *rows;
	size_t row_count; /* 0: the file says nothing of its frames */
	uint32_t *index; /* for each granule its first row, and at the end row_count */
	uint32_t first_granule;
	size_t granule_count;
	struct unwind_rule *rules; /* each once */
	size_t rule_count;
	size_t functions; /* descriptions that are in the table; of those left out there are */
	size_t malformed;
	size_t outside; /* not in the text of the file, as functions that the linker removed */
	size_t repeated; /* of what another one describes */
	bool cut; /* a limit was reached */
};

/* The part of a file's text that Go's compiler made. */
struct unwind_go {
	uint64_t offset;
	uint64_t size; /* 0: there is none */
};

/*
 * From .eh_frame, and for functions that are not in it from .debug_frame. At most bytes_max bytes are
 * read, or UNWIND_BYTES_MAX. -ENOTSUP: a file for another processor, or with too many segments;
 * -ENOMEM.
 */
int unwind_table_read(const struct elf_image *image, uint64_t bytes_max, const struct unwind_go *go,
		      struct unwind_table *result, struct error *err);
void unwind_table_free(struct unwind_table *table);

/* Never NULL: the rule of a place that nothing is known of is UNWIND_NONE. */
const struct unwind_rule *unwind_find(const struct unwind_table *table, uint64_t offset);

#endif
