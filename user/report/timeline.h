/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TIMELINE_H
#define BPFPROFIL_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/profile.h"
#include "report/rows.h"
#include "symbol/string_set.h"

/* The profiles of a sum in the order of time, for instance the files of --interval. */

/* A function in one part; there may be millions of these. */
struct timeline_cell {
	const char *object; /* identifies it; a string of the timeline */
	uint64_t offset;
	float ns;
};

struct timeline_part {
	const char *file;
	const char *started; /* RFC 3339 */
	uint64_t duration_ns;
	struct tick_sum sum; /* of all ticks, or those that pass the filter */
	const char *hottest; /* function, or object without functions; NULL: no ticks */
	double hottest_ns;
	struct timeline_cell *cells; /* sorted by object and offset */
	size_t nr;
};

struct timeline {
	const struct report_options *filter; /* by objects, comm, function; NULL: all */
	struct timeline_part *parts;
	size_t nr;
	size_t capacity;
	struct string_set strings;
};

/* Copies the needed parts of a profile, before it is merged. Returns 0 or a negative errno. */
int timeline_add(struct timeline *timeline, const struct profile *profile, const char *file,
		 struct error *err);

/* Sorts the parts by time. Call it after adding all. */
void timeline_sort(struct timeline *timeline);
void timeline_free(struct timeline *timeline);

/* The CPU time of a function of the sum in one part. */
double timeline_ns(struct timeline *timeline, const struct timeline_part *part,
		   const struct profile_object *object, uint64_t offset);

/*
 * The rows of --by time: the parts of options->timeline. Shows the hottest ones, ordered by time.
 */
int timeline_rows(const struct profile *profile, const struct report_options *options,
		  struct report_rows *rows, struct error *err);

/* Whether rows are inclusive figures of a function, with its hottest caller. */
static inline bool timeline_of_callers(const struct timeline *timeline)
{
	return timeline && timeline->filter && timeline->filter->tree;
}

#endif
