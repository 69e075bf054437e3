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
 * with time, even if summer time changes: each name has its own second, and all use the time zone
 * offset of the first. When the clock is set back they follow it, and are distinct still.
 */
struct series {
	const char *pattern; /* FILE as typed */
	pid_t pid;
	uint64_t keep; /* how many files stay; 0: all */
	char *path; /* of the next file; NULL: not named yet */
	time_t second; /* the time in that name */
	time_t latest; /* of all names */
	long zone; /* seconds east of Greenwich */
	uint64_t written;
	char **kept; /* oldest first: with keep all names, otherwise the first and the last */
	size_t nr_kept;
	size_t capacity;
};

int series_begin(struct series *series, const char *pattern, pid_t pid, time_t now, uint64_t keep,
		 struct error *err);

/* Names the first file again, by the time when its ticks begin. */
int series_start(struct series *series, time_t now, struct error *err);

/* Names the next file by this second, or the next one after it that no file has. */
int series_next(struct series *series, time_t now, struct error *err);

/*
 * Call after the file at path was written: sets path to NULL and deletes the oldest file if there
 * are more than keep. -errno: it could not be deleted, and is left to the user.
 */
int series_written(struct series *series, struct error *err);

/* Call if the file at path was not written: its name is not used. */
void series_skip(struct series *series);

/* Prints "profile: FILE", or how many files there are and which. */
void series_print(const struct series *series, FILE *out);

void series_free(struct series *series);

/*
 * A profile of several segments of time, each with its own period. Each becomes separate targets in
 * the sum, so that no tick is weighed by another segment's period.
 */
struct segments {
	struct profile_merger merger;
	struct profile_segment *list;
	size_t nr;
	size_t capacity;
	uint64_t since_ns; /* when the first segment began */
};

/*
 * Adds a segment that began at since_ns, on the clock of monotonic_ns(). The list takes over part,
 * even on failure.
 */
int segments_add(struct segments *segments, struct profile *part, uint64_t since_ns,
		 struct error *err);

/*
 * Adds *profile as the last segment, sets *profile to the whole and empties the list. With no
 * earlier segment it changes nothing. After a failure *profile is NULL.
 */
int segments_finish(struct segments *segments, struct profile **profile, uint64_t since_ns,
		    struct error *err);

void segments_free(struct segments *segments);

#endif
