/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SERIES_H
#define BPFPROFIL_SERIES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

#include "base/error.h"

/*
 * The names of a run's files, and which of the files there still are. Names are distinct and
 * ascend with time whatever becomes of the clock and of summer time: each has a second of its own,
 * and all have the first one's zone.
 */
struct series {
	const char *pattern; /* FILE as typed */
	pid_t pid;
	uint64_t keep; /* 0: all */
	char *path; /* of the file that comes next; NULL: not named yet */
	time_t second; /* in its name */
	long zone; /* seconds east of Greenwich */
	uint64_t written;
	char **kept; /* the oldest first: all names with keep, else the first and the last */
	size_t nr_kept;
	size_t capacity;
};

int series_begin(struct series *series, const char *pattern, pid_t pid, time_t now, uint64_t keep,
		 struct error *err);

/* Names the first file anew, by when its ticks begin. */
int series_start(struct series *series, time_t now, struct error *err);

/* The next file is to be named by this second or a later one. */
int series_next(struct series *series, time_t now, struct error *err);

/*
 * The file at path was written, and path is NULL from here on: deletes the one that is too many.
 * -errno: that could not be, and the file is left to the user.
 */
int series_written(struct series *series, struct error *err);

/* The file at path was not written: the name is not used. */
void series_skip(struct series *series);

/* "profile: FILE", or how many there are and which. */
void series_print(const struct series *series, FILE *out);

void series_free(struct series *series);

#endif
