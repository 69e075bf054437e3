/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_MAPPED_TEXT_H
#define BPFPROFIL_MAPPED_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "calls/process.h"
#include "profile/profile.h"

/*
 * The files with a process's text at the time of its call, so that counts have names after the
 * process has ended. The process controls all of this data: it is bounded, and no file is opened
 * for it.
 */
struct text_mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset; /* of start, in the file */
	struct profile_object file;
};

struct mapped_text {
	unsigned int users;
	struct text_mapping *list; /* ascending */
	size_t nr;
	size_t capacity;
	size_t bytes; /* of paths */
};

/*
 * NULL: none, or out of memory. Call it in the thread of the process's user, because it may block.
 */
struct mapped_text *mapped_text_read(const struct process *process);

/* NULL is fine. */
struct mapped_text *mapped_text_share(struct mapped_text *text);
void mapped_text_free(struct mapped_text *text);

/* Returns the first mapping with any of these bytes; NULL: there is none. */
const struct text_mapping *mapped_text_find(const struct mapped_text *text, uint64_t address,
					    uint64_t size);

/*
 * Converts an address to an offset, as if all of the file were mapped. The address may be before
 * the mapping. Returns 0, or -ERANGE if it would be before the file's first byte.
 */
int text_mapping_offset(const struct text_mapping *mapping, uint64_t address, uint64_t *result);

#endif
