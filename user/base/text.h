/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TEXT_H
#define BPFPROFIL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Prints names from other people's files, which may contain anything. On a terminal, control
 * characters could move the cursor or set the window's title, and a stray byte could end one of our
 * escape sequences.
 */

/*
 * Writes text, with control characters (see utf8_is_control) and bytes that are not UTF-8 as \xNN.
 * Text beyond width columns is cut, with an ellipsis; width 0: unlimited. Returns the columns.
 */
size_t text_write(FILE *out, const char *text, size_t width);

/* Does the same, but cuts the beginning, because the end of a place is its most useful part. */
size_t text_write_tail(FILE *out, const char *text, size_t width);

/* Does the same, but cuts the middle, and keeps twice as much of the end as of the beginning. */
size_t text_write_ends(FILE *out, const char *text, size_t width);

/*
 * Writes a character, a control character as \xNN, or a byte that is not UTF-8 as U+FFFD. Returns
 * its bytes.
 */
size_t text_put_character(FILE *out, const char *text);

/*
 * Writes such characters as a cell of CSV on one line: quoted if necessary (RFC 4180), and marked
 * as text if a spreadsheet would evaluate it as a formula. NULL is an empty cell.
 */
void text_csv(FILE *out, const char *text);

/* Whether text is written unchanged. */
bool text_is_plain(const char *text);

/* Writes a line: a label in its own column, and text. */
void text_labelled(FILE *out, const char *label, const char *text);

/*
 * Our characters for drawing, one column each. In a locale without UTF-8, such as C, they become
 * ASCII.
 */
const char *text_glyph(const char *glyph);

/* Draws in ASCII from here on, whatever the locale is. */
void text_draw_ascii(void);

/* The columns that text needs. */
size_t text_columns(const char *text);

/*
 * Returns the value of a label for a backend: text itself, or in ret its beginning and a hash.
 * Backends refuse long labels (Mimir and Pyroscope from 2,048 bytes on), and users may choose any
 * names for cgroups and functions.
 */
#define TEXT_LABEL 1025
const char *text_label(const char *text, char ret[TEXT_LABEL]);

/* Whether text ends in `end`, and is longer. */
bool text_ends_in(const char *text, const char *end);

/* The last component of a path, or all of a path without a slash. */
const char *text_basename(const char *path);

#endif
