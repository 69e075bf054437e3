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
struct row_marks;

/* What one piece of text was inlined into; deeper inlining loses its outermost. */
#define INLINED_MAX 64

#define NO_ROW UINT32_MAX

struct mark_place {
	uint32_t object;
	uint64_t offset;
	uint64_t size;
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

/* Makes marks of one row of those that end with `last` and those that begin with `first`. */
void row_marks_join(struct row_marks *marks, uint32_t last, uint32_t first);

/* Says of the marks that begin with `first` which row they are of. */
void row_marks_set_row(struct row_marks *marks, uint32_t first, uint32_t row);

/* The row of a mark, or NO_ROW. */
uint32_t row_marks_row(const struct row_marks *marks, uint32_t mark);

/* The mark of what its text was inlined into; 0: nothing. */
uint32_t row_marks_outer(const struct row_marks *marks, uint32_t mark);

#endif
