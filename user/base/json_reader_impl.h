/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_JSON_READER_IMPL_H
#define BPFPROFIL_JSON_READER_IMPL_H

/* What json_reader.c (structure) and json_scalar.c (strings, numbers, words) share. */

#include "base/json_reader.h"

#define JSON_READER_BUFFER (64 * 1024)

struct json_reader {
	struct input *in;
	struct error *err;
	uint64_t line;
	size_t at;
	size_t filled;
	char *text; /* the string or number read last, NUL-terminated */
	size_t length;
	size_t capacity;
	unsigned int depth;
	bool first; /* no element of the innermost container has been read yet */
	char buffer[JSON_READER_BUFFER];
};

int json_reader_peek_slow(struct json_reader *json);
int json_reader_peek_token_slow(struct json_reader *json);

/* Returns the next byte without taking it, or a negative errno, also at the end. */
static inline int json_reader_peek(struct json_reader *json)
{
	if (json->at < json->filled)
		return (unsigned char)json->buffer[json->at];
	return json_reader_peek_slow(json);
}

/* Skips white space, then peeks. */
static inline int json_reader_peek_token(struct json_reader *json)
{
	int c = json_reader_peek(json);

	return c > ' ' || c < 0 ? c : json_reader_peek_token_slow(json);
}

/* Reports that c (a byte, or a failure of peek) stands where `wanted` should. */
int json_reader_unexpected(struct json_reader *json, int c, const char *wanted);

int json_reader_no_memory(struct json_reader *json);

/* Read the next string or number into json->text. A number keeps its spelling. */
int json_reader_keep_string(struct json_reader *json);
int json_reader_keep_number(struct json_reader *json);

#endif
