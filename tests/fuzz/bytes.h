/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef FUZZ_BYTES_H
#define FUZZ_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "profile/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the process when it does not hold. */
void fuzz_check(int holds, const char *what);

/* What an input is refused with: one line, and it says something. */
void fuzz_check_refusal(const struct error *err);

/* A file of these bytes, read from the beginning; the caller closes it. */
int fuzz_file(const void *data, size_t size);

struct input *fuzz_input(const void *data, size_t size);

/* NULL: refused, properly. */
struct profile *fuzz_profile(const void *data, size_t size);

/* What writers write, and what must hold of it whatever the names in it are. */
struct fuzz_text {
	char *text;
	size_t size;
	FILE *stream;
};

FILE *fuzz_text_begin(struct fuzz_text *text);
void fuzz_text_end(struct fuzz_text *text);
void fuzz_text_free(struct fuzz_text *text);
void fuzz_check_json(const struct fuzz_text *text);

/* Harmless on a terminal: UTF-8 without control characters but newlines. */
void fuzz_check_plain(const struct fuzz_text *text);

#endif
