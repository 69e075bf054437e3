/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SERIES_H
#define BPFPROFIL_SERIES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

#include "base/error.h"
#include "profile/profile.h"
#include "profile/profile_merge.h"

/*
 * The names of a run's files, and which of the files still exist. Names are distinct and ascend
 * with time, even if summer time changes: each name has its own second, and all use the first one's
 * time zone offset. If the clock is set back, names follow it, and stay distinct.
 */
struct series {
	const char *pattern; /* FILE as given */
	pid_t pid;
	uint64_t keep; /* number of files to keep; 0: all */
	char *path; /* of the next file; NULL: no name yet */
	time_t second; /* in that name */
	time_t latest; /* latest second in any name */
	long zone; /* seconds east of Greenwich */
	uint64_t written;
	char **kept; /* oldest first: all names if `keep` is set, else the first and the last */
	size_t nr_kept;
	size_t capacity;
};

int series_begin(struct series *series, const char *pattern, pid_t pid, time_t now, uint64_t keep,
		 struct error *err);

/* Renames the first file by the time of its first tick. */
int series_start(struct series *series, time_t now, struct error *err);

/* Names the next file by this second, or by the next one that is free. */
int series_next(struct series *series, time_t now, struct error *err);

/*
 * Call it after writing the file at path: sets path to NULL, and deletes the oldest file if there
 * are more than keep. -errno: it could not be deleted, and stays.
 */
int series_written(struct series *series, struct error *err);

/* Call it if the file at path was not written: its name is not used. */
void series_skip(struct series *series);

/* Prints "profile: FILE", or the number of files and their names. */
void series_print(const struct series *series, FILE *out);

void series_free(struct series *series);

/*
 * A profile of several segments of time, each with its own period. In the sum, each has separate
 * targets, so that no tick gets another segment's period.
 */
struct segments {
	struct profile_merger merger;
	struct profile_segment *list;
	size_t nr;
	size_t capacity;
	uint64_t since_ns; /* start of the first segment */
};

/*
 * Adds a segment that began at since_ns, a time of monotonic_ns(). The list owns part, even on
 * failure.
 */
int segments_add(struct segments *segments, struct profile *part, uint64_t since_ns,
		 struct error *err);

/*
 * Adds *profile as the last segment, sets *profile to the whole, and empties the list. Without
 * earlier segments it changes nothing. After a failure *profile is NULL.
 */
int segments_finish(struct segments *segments, struct profile **profile, uint64_t since_ns,
		    struct error *err);

void segments_free(struct segments *segments);

#endif
