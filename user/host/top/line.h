/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TOP_LINE_H
#define BPFPROFIL_TOP_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * A line of a screen, written from left to right and never wider than allowed. Names are escaped,
 * which leaves control characters free for styles: if the line has styles, a character below
 * TOP_STYLES sets the style of the text that follows.
 */
enum top_style {
	TOP_PLAIN = 1,
	TOP_BOLD,
	TOP_DIM,
	TOP_HOT,
	TOP_WARM,
	TOP_HEADING,
	TOP_SORTED, /* the heading by which rows are sorted */
	TOP_SELECTED,
	TOP_NOTE,
	TOP_STYLES
};

_Static_assert(TOP_STYLES <= '\n', "a picture's lines end with a newline");

struct top_line {
	FILE *out;
	size_t width; /* columns; 0: unlimited */
	bool styled;
	size_t used;
};

void line_style(struct top_line *line, enum top_style style);

/* Writes any text. Text that does not fit is cut at the end. */
void line_text(struct top_line *line, const char *text);

/* A function's name: see name_write(). */
void line_name(struct top_line *line, const char *name);

/* Does the same with `length` bytes of the text. */
void line_words(struct top_line *line, const char *text, size_t length);

/* Does the same in a column of its own: padded to its width, or cut from the left. */
void line_column(struct top_line *line, const char *text, size_t columns);

/* Writes our own text, which is short and contains no names. */
void line_print(struct top_line *line, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Whether this many columns are left. */
bool line_has_room(const struct top_line *line, size_t columns);

/*
 * The bytes of text that fit a line of this width if the line ends at a word's end, or the whole
 * text. The next line begins behind the blank that follows.
 */
size_t line_fit(const char *text, size_t width);

/* Writes blanks up to a column, or to the end of the line. */
void line_blank(struct top_line *line, size_t column);

/* Ends the line; the next one begins. */
void line_end(struct top_line *line);

#endif
