/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SYMBOL_COVER_H
#define BPFPROFIL_SYMBOL_COVER_H

#include <stddef.h>
#include <stdint.h>

#include "symbol/symbol_table.h"

/*
 * Symbols may overlap. A cover cuts the whole address range into pieces that do not, each named by
 * one symbol or none. So a look-up is one binary search, however deeply a hostile file nests
 * symbols.
 */
#define COVER_NONE UINT32_MAX

struct cover_piece {
	uint64_t start; /* it ends at the next piece's start */
	uint32_t symbol; /* index, or COVER_NONE */
};

struct cover {
	struct cover_piece *pieces; /* ascending; the first starts at 0 */
	size_t nr;
};

/* An interval that covers those before it. */
struct cover_interval {
	uint64_t start;
	uint64_t end;
	uint32_t order; /* SYMBOL_LATEST: the order in which it was added */
	uint32_t symbol; /* goes into the piece */
};

/* Intervals ascend by start; among equal starts the preferred one comes first. 0 or -ENOMEM. */
int cover_build(const struct cover_interval *intervals, size_t nr, enum symbol_overlap overlap,
		struct cover *result);
void cover_free(struct cover *cover);

/* The index of the piece that contains offset. */
size_t cover_find(const struct cover *cover, uint64_t offset);

#endif
