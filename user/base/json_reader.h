/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_JSON_READER_H
#define BPFPROFIL_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/file.h"

/*
 * Reads a JSON text value by value, in the order of the text, and strictly by RFC 8259. It holds
 * one string at a time, because a profile may have millions of numbers.
 *
 * Each function returns 0 or more, or a negative errno with a description in the struct error given
 * to json_reader_new(). After a failure the reader cannot be used any more.
 */
struct json_reader;

/* The caller keeps the input and err, which must outlive the reader. NULL: out of memory. */
struct json_reader *json_reader_new(struct input *in, struct error *err);
void json_reader_free(struct json_reader *json); /* NULL is fine */

/* Enters the object, or the array, that comes next. */
int json_reader_object(struct json_reader *json);
int json_reader_array(struct json_reader *json);

/*
 * Returns 1 if another member (element) follows, which the caller reads or skips. Returns 0 after
 * leaving the object (array).
 */
int json_reader_member(struct json_reader *json, const char **key); /* valid until the next call */
int json_reader_element(struct json_reader *json);

int json_reader_u64(struct json_reader *json, uint64_t *result);
int json_reader_i64(struct json_reader *json, int64_t *result); /* from -(2^63 - 1) */

/*
 * Call it after json_reader_element(). Reads that element and the following ones, at most max, as
 * long as they are [number,number] in our own spelling. Returns how many; 0, with nothing read: the
 * next element is different, or not completely in the buffer. Profiles have up to five million such
 * bins.
 */
size_t json_reader_pairs(struct json_reader *json, uint64_t (*pairs)[2], size_t max);
int json_reader_double(struct json_reader *json, double *result);
int json_reader_bool(struct json_reader *json, bool *result);
int json_reader_string(struct json_reader *json, char **result); /* the caller frees *result */
int json_reader_skip(struct json_reader *json); /* skips any value */

/* Returns 1 if it read a null, or 0, with nothing read, if something else follows. */
int json_reader_null(struct json_reader *json);

/* Checks that only white space follows. */
int json_reader_end(struct json_reader *json);

/* Describes what is wrong with the last value: "NAME: line N: ...". Returns -EBADMSG. */
int json_reader_fail(struct json_reader *json, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#define JSON_READER_BUFFER (64 * 1024)

#endif
