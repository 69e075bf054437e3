/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_JSON_READER_H
#define BPFPROFIL_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/file.h"

/*
 * Reads a JSON text value by value, in the order it is written, strictly as RFC 8259 has it and
 * without ever holding more than one string of it: a profile has millions of numbers.
 *
 * Each function returns 0 or more, or a negative errno after it has described the failure in the
 * struct error given to json_reader_new(). After a failure the reader is of no more use.
 */
struct json_reader;

/* The input and err stay the caller's and must outlive the reader. NULL: out of memory. */
struct json_reader *json_reader_new(struct input *in, struct error *err);
void json_reader_free(struct json_reader *json); /* NULL is fine */

/* Enters the object (array) that comes next. */
int json_reader_object(struct json_reader *json);
int json_reader_array(struct json_reader *json);

/* 1: another member (element) follows, to be read or skipped; 0: left the object (array). */
int json_reader_member(struct json_reader *json, const char **key); /* valid until the next call */
int json_reader_element(struct json_reader *json);

int json_reader_u64(struct json_reader *json, uint64_t *ret);
int json_reader_double(struct json_reader *json, double *ret);
int json_reader_bool(struct json_reader *json, bool *ret);
int json_reader_string(struct json_reader *json, char **ret); /* the caller frees *ret */
int json_reader_skip(struct json_reader *json); /* any value */

/* 1 and null read; 0 and nothing read when something else comes next. */
int json_reader_null(struct json_reader *json);

/* Nothing but white space follows. */
int json_reader_end(struct json_reader *json);

/* Describes what is wrong with what was just read: "NAME: line N: ...". Returns -EBADMSG. */
int json_reader_fail(struct json_reader *json, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
