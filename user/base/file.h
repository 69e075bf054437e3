/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_FILE_H
#define BPFPROFIL_FILE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

#include "base/error.h"

/*
 * A file that appears under its name whole or not at all: it is written beside FILE and renamed.
 * "-" is standard output. A FILE that is there and not a regular file (/dev/null, a fifo) is
 * written directly. A symbolic link stays and its target is replaced. A name that ends in .gz is
 * compressed. Modes follow the umask, or the file of ours that is replaced. Under sudo the file
 * belongs to the invoking user, else to us: whoever made a file of that name beforehand, where others
 * can write, has no part in what takes its place, and their fifo is not written to.
 */
struct output;

enum output_flags {
	OUTPUT_GZ = 1, /* compressed, whatever the file is called */
	OUTPUT_CONFIDENTIAL = 2, /* a new file is its owner's only */
	OUTPUT_KEEP_OLD = 4, /* a file of ours that is replaced stays as FILE.old */
};

int output_open_as(const char *path, unsigned int flags, struct output **ret, struct error *err);

int output_open(const char *path, struct output **ret, struct error *err);

/* The same for a format that is always compressed, whatever its file is called. */
int output_open_gz(const char *path, struct output **ret, struct error *err);

/* Where to write; it stays the output's. A failed write shows in ferror() and in output_finish. */
FILE *output_stream(struct output *out);

/* Writes out, checks every error there can be, and renames. out is gone whatever is returned. */
int output_commit(struct output *out, struct error *err);

/* Leaves nothing behind. NULL is fine. */
void output_abort(struct output *out);

/*
 * Ends an output after its writer returned result: commits on 0, otherwise aborts and returns
 * result with *err as the writer left it, unless it was the stream that failed: that names FILE.
 */
int output_finish(struct output *out, int result, struct error *err);

/* Whether output_open(path) would work, found out before the work is done. Leaves no trace. */
int output_check(const char *path, struct error *err);

/*
 * Fills in a FILE as typed: %p is pid, %t started as YYYYmmdd-HHMMSS in local time, %h the name
 * of this host, %% a percent sign. The caller frees *ret.
 */
int output_expand(const char *pattern, pid_t pid, time_t started, char **ret, struct error *err);

/* The same for a time that is broken down already; started NULL: not known. */
int output_expand_tm(const char *pattern, pid_t pid, const struct tm *started, char **ret,
		     struct error *err);

/* Whether a FILE as typed has a %t, so that each time gives it another name. */
bool output_has_time(const char *pattern);

/* A file to read, compressed by gzip or not; "-" is standard input. */
struct input;

/*
 * What deflate makes of a profile is an eighth; of one byte over and over, a thousandth. Root may be
 * reading what anybody packed.
 */
enum {
	INPUT_UNPACKED_FREE = 64 << 20, /* bytes, however they were packed */
	INPUT_PACKING_MAX = 100, /* times its size, beyond that */
	INPUT_UNPACKED_PIPE = 1 << 30, /* bytes, where the size is not known */
};

int input_open(const char *path, struct input **ret, struct error *err);

/* As input_open() of a descriptor, which is the input's from then on, also when this fails. */
int input_open_fd(int fd, const char *name, struct input **ret, struct error *err);

/*
 * Bytes read, 0 at the end, or a negative errno: -ENODATA when gzip data end too early, -EFBIG when
 * they unpack to too much.
 */
ssize_t input_read(struct input *in, void *buffer, size_t size, struct error *err);

/* What to call it in messages. */
const char *input_name(const struct input *in);

void input_close(struct input *in); /* NULL is fine */

#endif
