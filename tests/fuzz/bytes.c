// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What the fuzz targets share: bytes as files, and checks of the text that is written. */
#include "bytes.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json_reader.h"
#include "profile/profile_io.h"

/* Pointers that overflow end a fuzzer, though they need not end a program that is compiled like it. */
const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
	return "halt_on_error=1";
}

void fuzz_check(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "does not hold: %s\n", what);
	abort();
}

void fuzz_check_refusal(const struct error *err)
{
	fuzz_check(err->text[0] && !strchr(err->text, '\n'), "a refusal is one line");
}

int fuzz_file(const void *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	fuzz_check(fd >= 0 && write(fd, data, size) == (ssize_t)size && !lseek(fd, 0, SEEK_SET),
		   "a file in memory");
	return fd;
}

struct input *fuzz_input(const void *data, size_t size)
{
	struct error err = { "", "" };
	struct input *in;

	fuzz_check(!input_open_fd(fuzz_file(data, size), "fuzz", &in, &err), "an input");
	return in;
}

struct profile *fuzz_profile(const void *data, size_t size)
{
	struct input *in = fuzz_input(data, size);
	struct error err = { "", "" };
	struct profile *profile = NULL;

	if (profile_read(in, &profile, &err)) {
		fuzz_check_refusal(&err);
		profile = NULL;
	}
	input_close(in);
	return profile;
}

FILE *fuzz_text_begin(struct fuzz_text *text)
{
	*text = (struct fuzz_text){ 0 };
	text->stream = open_memstream(&text->text, &text->size);
	fuzz_check(text->stream != NULL, "a stream in memory");
	return text->stream;
}

void fuzz_text_end(struct fuzz_text *text)
{
	fuzz_check(!fclose(text->stream), "a whole text");
}

void fuzz_text_free(struct fuzz_text *text)
{
	free(text->text);
}

void fuzz_check_json(const struct fuzz_text *text)
{
	struct input *in = fuzz_input(text->text, text->size);
	struct error err = { "", "" };
	struct json_reader *json = json_reader_new(in, &err);

	if (json_reader_skip(json) || json_reader_end(json)) {
		fprintf(stderr, "%s\n%.*s\n", err.text, (int)text->size, text->text);
		abort();
	}
	json_reader_free(json);
	input_close(in);
}

/* The length of the character at `at`; 0: it is invalid, or moves a cursor. */
static size_t printable(const unsigned char *at, size_t left)
{
	size_t length = *at < 0x80 ? 1 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4, i;

	if (*at == '\n')
		return 1;
	if (*at < 0x20 || *at == 0x7f || (*at >= 0x80 && *at < 0xc2) || *at > 0xf4 || length > left)
		return 0;
	for (i = 1; i < length; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	return *at == 0xc2 && at[1] < 0xa0 ? 0 : length;
}

void fuzz_check_plain(const struct fuzz_text *text)
{
	size_t at = 0, length;

	while (at < text->size) {
		length = printable((unsigned char *)text->text + at, text->size - at);
		if (!length) {
			fprintf(stderr, "byte %zu is 0x%02x:\n%.*s\n", at,
				(unsigned char)text->text[at], (int)text->size, text->text);
			abort();
		}
		at += length;
	}
}
