/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_JSON_TEXT_H
#define BPFPROFIL_JSON_TEXT_H

#include <stdint.h>
#include <stdio.h>

/*
 * JSON values, written to a stream. None allocates, none depends on the locale; failures are the
 * stream's (ferror). json-c is not used: in 0.16 a failed malloc() silently leaves a hole in what
 * it prints, and makes its parser crash.
 */

/* In quotes. Bytes that are no UTF-8 become U+FFFD, one for each. NULL is "". */
void json_text_string(FILE *stream, const char *text);

/* The same, but NULL is null. */
void json_text_string_or_null(FILE *stream, const char *text);

void json_text_u64(FILE *stream, uint64_t value);

/* The shortest text that reads back as value; what is not finite becomes 0. */
void json_text_double(FILE *stream, double value);

#endif
