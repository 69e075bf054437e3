/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_ROW_MARKS_H
#define BPFPROFIL_ROW_MARKS_H

#include <stddef.h>
#include <stdint.h>

/*
 * By which chains of callers know the text of rows. Text has a mark before rows are named and combined,
 * and rows keep the marks of what they were combined from, so a chain of text is a chain of rows,
 * whatever these are. Marks begin with 1.
 */
/* What one piece of text was inlined into; deeper inlining loses its outermost. */
#define INLINED_MAX 64

#define NO_ROW UINT32_MAX

struct mark_place {
	uint32_t object;
	uint64_t offset;
	uint64_t size;
};

struct row_mark {
	uint32_t next; /* of the same row; 0: this is the last */
	uint32_t outer; /* of what its text was inlined into; 0: nothing */
	uint32_t row; /* once rows are combined, or NO_ROW */
};

struct row_marks {
	struct row_mark *all;
	size_t nr, room; /* with the one that is none */
	struct mark_place *places; /* of the first marks, ascending */
	size_t nr_places;
};

/* With room for so many places; NULL: out of memory. */
struct row_marks *row_marks_new(size_t nr_places);
void row_marks_free(struct row_marks *marks); /* NULL is fine */

/* The new mark of a place, behind all those before; 0: out of memory. */
uint32_t row_marks_add_place(struct row_marks *marks, const struct mark_place *place);

/* The new mark of what the text of another mark was inlined into; 0: out of memory. */
uint32_t row_marks_add_outer(struct row_marks *marks, uint32_t inner);

/* The mark of a place; 0: it has none. */
uint32_t row_marks_find(const struct row_marks *marks, const struct mark_place *place);

#endif
