/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_FILE_H
#define BPFPROFIL_FILE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

#include "base/error.h"

/*
 * Writes a file that appears under its name complete or not at all: it is written beside FILE and
 * renamed.
 *
 * "-" is standard output. A FILE that exists and is no regular file (/dev/null, a fifo) is written
 * directly. A symbolic link stays and its target is replaced. A name that ends in .gz is
 * compressed. The mode follows the umask, or the replaced file if that was ours. The new file
 * belongs to the user who ran sudo, else to us: somebody who made a file of that name beforehand,
 * in a folder that others can write, gets no access to what replaces it, and their fifo is not
 * written to.
 */
struct output;

enum output_flags {
	OUTPUT_GZ = 1, /* compressed, whatever the file's name */
	OUTPUT_CONFIDENTIAL = 2, /* only its owner may read a new file */
	OUTPUT_KEEP_OLD = 4, /* a replaced file of ours is kept as FILE.old */
};

int output_open_as(const char *path, unsigned int flags, struct output **result, struct error *err);

int output_open(const char *path, struct output **result, struct error *err);

/* Whether what is written to a file of that name is compressed. */
bool output_is_compressed(const char *path);

/*
 * The stream to write to; it stays the output's. A failed write shows in ferror() and in
 * output_finish().
 */
FILE *output_stream(struct output *out);

/* Writes out, checks all errors, and renames. Frees out in any case. */
int output_commit(struct output *out, struct error *err);

/* Discards the output and leaves nothing behind. NULL is fine. */
void output_abort(struct output *out);

/*
 * Ends an output after its writer returned result. On 0 it commits. Otherwise it aborts and returns
 * result, with *err as the writer left it; if the stream failed, *err names FILE instead.
 */
int output_finish(struct output *out, int result, struct error *err);

/* Checks before the work is done whether output_open(path) would succeed. Leaves no trace. */
int output_check(const char *path, struct error *err);

/*
 * Expands a FILE as typed: %p is pid, %t is started as YYYYmmdd-HHMMSS, or NULL if that is not
 * known, %h is the name of this host, %% a percent sign. The caller frees *result.
 */
int output_expand(const char *pattern, pid_t pid, const struct tm *started, char **result,
		  struct error *err);

/* Whether a FILE as typed has a %t, so that each time gives it another name. */
bool output_has_time(const char *pattern);

/* A file to read, compressed by gzip or not; "-" is standard input. */
struct input;

/*
 * Limits for unpacking, because root may read what anybody packed. deflate packs a profile to an
 * eighth of its size, but a repeated byte to a thousandth.
 */
enum {
	INPUT_UNPACKED_FREE = 64 << 20, /* bytes that are always allowed */
	INPUT_PACKING_MAX = 100, /* times the packed size, beyond that */
	INPUT_UNPACKED_PIPE = 1 << 30, /* bytes allowed if the packed size is not known */
};

int input_open(const char *path, struct input **result, struct error *err);

/* The same as input_open() for a descriptor. The input owns fd from then on, even if this fails. */
int input_open_fd(int fd, const char *name, struct input **result, struct error *err);

/*
 * Returns the bytes read, 0 at the end, or a negative errno: -ENODATA if gzip data end too early,
 * -EFBIG if they unpack to too much.
 */
ssize_t input_read(struct input *in, void *buffer, size_t size, struct error *err);

/* The name to use in messages. */
const char *input_name(const struct input *in);

void input_close(struct input *in); /* NULL is fine */

#endif
