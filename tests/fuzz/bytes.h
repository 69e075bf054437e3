/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef FUZZ_BYTES_H
#define FUZZ_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "profile/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the process if the condition is false. */
void fuzz_check(int holds, const char *what);

/* An input must be refused with one line that is not empty. */
void fuzz_check_refusal(const struct error *err);

/* A file of these bytes, positioned at the start; the caller closes it. */
int fuzz_file(const void *data, size_t size);

struct input *fuzz_input(const void *data, size_t size);

/* NULL: it was refused properly. */
struct profile *fuzz_profile(const void *data, size_t size);

/* Output of writers, and checks that must hold whatever the names in it are. */
struct fuzz_text {
	char *text;
	size_t size;
	FILE *stream;
};

FILE *fuzz_text_begin(struct fuzz_text *text);
void fuzz_text_end(struct fuzz_text *text);
void fuzz_text_free(struct fuzz_text *text);
void fuzz_check_json(const struct fuzz_text *text);

/* Checks that it does no harm on a terminal: UTF-8 without control characters except newlines. */
void fuzz_check_plain(const struct fuzz_text *text);

#endif
