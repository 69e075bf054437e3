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
 * then renamed.
 *
 * "-" is standard output. If FILE exists and is not a regular file (/dev/null, a fifo), it is
 * written directly. A symbolic link stays, and its target is replaced. A name that ends in .gz is
 * compressed. The mode follows the umask, or the replaced file if that was ours.
 *
 * The new file belongs to the user who ran sudo, else to us. If somebody else made a file of that
 * name in a folder that others can write to, they get no access to the new file. A fifo of theirs
 * is refused.
 */
struct output;

enum output_flags {
	OUTPUT_GZ = 1, /* compressed, whatever the file's name */
	OUTPUT_CONFIDENTIAL = 2, /* only its owner may read a new file */
	OUTPUT_KEEP_OLD = 4, /* keep a replaced file of ours as FILE.old */
};

int output_open(const char *path, unsigned int flags, struct output **result, struct error *err);

/* Whether a file of that name would be compressed. */
bool output_is_compressed(const char *path);

/*
 * The stream to write to; the output owns it. If a write fails, ferror() is set and output_finish()
 * reports it.
 */
FILE *output_stream(struct output *out);

/* Flushes, checks for errors, and renames. Frees out in any case. */
int output_commit(struct output *out, struct error *err);

/* Discards the output and leaves nothing behind. NULL is fine. */
void output_abort(struct output *out);

/*
 * Ends an output after its writer returned result. On 0 it commits. Otherwise it aborts and returns
 * result, with the writer's *err. If the stream failed, *err names FILE instead.
 */
int output_finish(struct output *out, int result, struct error *err);

/* Checks in advance whether output_open(path) would succeed. Leaves no trace. */
int output_check(const char *path, struct error *err);

/*
 * Expands a FILE from the command line: %p is pid; %t is started as YYYYmmdd-HHMMSS, NULL if
 * unknown; %h is the host name; %% is a percent sign. The caller frees *result.
 */
int output_expand(const char *pattern, pid_t pid, const struct tm *started, char **result,
		  struct error *err);

/* Whether a FILE has %t, so that its name changes with the time. */
bool output_has_time(const char *pattern);

/* A file to read, maybe compressed by gzip; "-" is standard input. */
struct input;

/*
 * Limits for unpacking, because root may read files that anybody packed. deflate packs a profile to
 * an eighth of its size, but repeated bytes to a thousandth.
 */
enum {
	INPUT_UNPACKED_FREE = 64 << 20, /* always allowed */
	INPUT_PACKING_MAX = 100, /* beyond that, times the packed size */
	INPUT_UNPACKED_PIPE = 1 << 30, /* if the packed size is unknown */
};

int input_open(const char *path, struct input **result, struct error *err);

/* Does the same for a descriptor. The input owns fd, even if this fails. */
int input_open_fd(int fd, const char *name, struct input **result, struct error *err);

/*
 * Returns the bytes read, 0 at the end, or a negative errno. -ENODATA: gzip data is truncated;
 * -EFBIG: it unpacks to too much.
 */
ssize_t input_read(struct input *in, void *buffer, size_t size, struct error *err);

const char *input_name(const struct input *in);

void input_close(struct input *in); /* NULL is fine */

#endif
