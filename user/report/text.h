/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TEXT_H
#define BPFPROFIL_TEXT_H

#include <stddef.h>
#include <stdio.h>

/*
 * Names come from other people's files and may hold anything. On a terminal a control character
 * could move the cursor or retitle the window, and a stray byte could end a sequence of ours.
 */

/*
 * Writes text with control characters (see utf8_is_control) and bytes that are not UTF-8 as \xNN. What
 * would go beyond width columns is left out and marked by an ellipsis; width 0 means all of it.
 * Returns the columns written.
 */
size_t text_write(FILE *out, const char *text, size_t width);

/* The same, but what is left out is the beginning: the end of a place tells most. */
size_t text_write_tail(FILE *out, const char *text, size_t width);

/* The columns that all of text takes. */
size_t text_columns(const char *text);

/* The last component of a path; the whole of what has none. */
const char *text_basename(const char *path);

#endif
