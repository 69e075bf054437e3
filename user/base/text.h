/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TEXT_H
#define BPFPROFIL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Prints names from other people's files, which may contain anything. On a terminal a control
 * character could move the cursor or set the window's title, and a stray byte could end an escape
 * sequence of ours.
 */

/*
 * Writes text, with control characters (see utf8_is_control) and bytes that are not UTF-8 as \xNN.
 * Text beyond width columns is cut and marked by an ellipsis; width 0: nothing is cut. Returns the
 * columns written.
 */
size_t text_write(FILE *out, const char *text, size_t width);

/* The same, but cuts the beginning, because the end of a place says most. */
size_t text_write_tail(FILE *out, const char *text, size_t width);

/* The same, but cuts the middle, and leaves twice as much of the end as of the beginning. */
size_t text_write_ends(FILE *out, const char *text, size_t width);

/* Whether all of text is written as it is. */
bool text_is_plain(const char *text);

/* Writes a line: a label in a column of its own, and text. */
void text_labelled(FILE *out, const char *label, const char *text);

/*
 * The characters that we draw with, one column each: in a locale without UTF-8, such as C, an ASCII
 * character replaces them.
 */
const char *text_glyph(const char *glyph);

/* From here on as in such a locale, whatever the locale is. */
void text_draw_ascii(void);

/* The number of columns that all of text takes. */
size_t text_columns(const char *text);

/*
 * What a backend gets as a label's value: text itself, or in ret its beginning and a hash, because backends
 * refuse long ones (Mimir and Pyroscope from 2,048 bytes on), and a user may make cgroups and functions of
 * any name.
 */
#define TEXT_LABEL 1025
const char *text_label(const char *text, char ret[TEXT_LABEL]);

/* Whether text ends so, and has something before that. */
bool text_ends_in(const char *text, const char *end);

/* The last component of a path, or all of a path without a slash. */
const char *text_basename(const char *path);

#endif
