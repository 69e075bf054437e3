/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_JSON_TEXT_H
#define BPFPROFIL_JSON_TEXT_H

#include <stdint.h>
#include <stdio.h>

/*
 * Writes JSON values to a stream. No function allocates memory or depends on the locale. Failures
 * show in ferror(). json-c 0.16 is not used: after a failed malloc() its output silently lacks
 * data, and its parser crashes.
 */

/* Writes text in quotes. Bytes that are not UTF-8 become U+FFFD. NULL is "". */
void json_text_string(FILE *stream, const char *text);

/* Does the same, but NULL becomes null. */
void json_text_string_or_null(FILE *stream, const char *text);

void json_text_u64(FILE *stream, uint64_t value);

/* Writes the shortest text that reads back as value; infinities and NaN become 0. */
void json_text_double(FILE *stream, double value);

#endif
