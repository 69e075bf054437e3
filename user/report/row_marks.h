/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_ROW_MARKS_H
#define BPFPROFIL_ROW_MARKS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Marks connect the text in chains of callers with rows. Each place gets a mark before rows are
 * named and combined. Rows keep the marks of everything that they combine, so that chains of text
 * become chains of rows. Marks begin with 1.
 */
/* Limit of nested inlining; the outermost functions beyond it are dropped. */
#define INLINED_MAX 64

#define NO_ROW UINT32_MAX

struct mark_place {
	uint32_t object;
	uint64_t offset;
	uint64_t size;
};

struct row_mark {
	uint32_t next; /* of the same row; 0: last */
	uint32_t outer; /* of the function around inlined text; 0: none */
	uint32_t row; /* after rows were combined, or NO_ROW */
};

struct row_marks {
	struct row_mark *all;
	size_t nr, room; /* including number 0 */
	struct mark_place *places; /* of the first nr_places marks, ascending */
	size_t nr_places;
};

/* Gives each row a mark. Rows ascend by place, without duplicates. NULL: out of memory. */
struct report_row;
struct row_marks *row_marks_new(struct report_row *rows, size_t nr);
void row_marks_free(struct row_marks *marks); /* NULL is fine */

/* Adds a mark for the function that the text of another mark is inlined into; 0: out of memory. */
uint32_t row_marks_add_outer(struct row_marks *marks, uint32_t inner);

/* Returns the mark of a place; 0: it has none. */
uint32_t row_marks_find(const struct row_marks *marks, const struct mark_place *place);

#endif
