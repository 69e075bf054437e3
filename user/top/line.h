/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TOP_LINE_H
#define BPFPROFIL_TOP_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * A line of a picture, written from left to right and never wider than it may be. Names are
 * escaped, so that control characters are free to stand for styles: where the line has them, a
 * character below TOP_STYLES says how what follows looks, until the next one.
 */
enum top_style {
	TOP_PLAIN = 1,
	TOP_BOLD,
	TOP_DIM,
	TOP_HOT,
	TOP_WARM,
	TOP_HEADING,
	TOP_SORTED, /* of the headings the one by which rows are sorted */
	TOP_SELECTED,
	TOP_NOTE,
	TOP_STYLES
};

_Static_assert(TOP_STYLES <= '\n', "a picture's lines end with a newline");

struct top_line {
	FILE *out;
	size_t width; /* columns; 0: as many as it takes */
	bool styled;
	size_t used;
};

void line_style(struct top_line *line, enum top_style style);

/* Text that may be anything; of what does not fit the end is left out. */
void line_text(struct top_line *line, const char *text);

/* The same in a column of its own: padded to columns, or cut from the left. */
void line_column(struct top_line *line, const char *text, size_t columns);

/* Text of ours: short, without names. */
void line_print(struct top_line *line, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Blanks up to a column, or to the end of the line. */
void line_blank(struct top_line *line, size_t column);

/* Ends it; the next one begins. */
void line_end(struct top_line *line);

#endif
