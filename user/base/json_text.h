/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_JSON_TEXT_H
#define BPFPROFIL_JSON_TEXT_H

#include <stdint.h>
#include <stdio.h>

/*
 * Writes JSON values to a stream. No function allocates or depends on the locale; failures show in
 * the stream (ferror). json-c is not used because in 0.16 a failed malloc() silently leaves a hole
 * in what it prints, and makes its parser crash.
 */

/* Writes text in quotes. Each byte that is not UTF-8 becomes U+FFFD. NULL is "". */
void json_text_string(FILE *stream, const char *text);

/* The same, but NULL becomes null. */
void json_text_string_or_null(FILE *stream, const char *text);

void json_text_u64(FILE *stream, uint64_t value);

/* Writes the shortest text that reads back as value; an infinity or a NaN becomes 0. */
void json_text_double(FILE *stream, double value);

#endif
