/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TIMELINE_H
#define BPFPROFIL_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/profile.h"
#include "report/rows.h"
#include "symbol/string_set.h"

/* Profiles that are added up, as they were one after the other, for instance --interval's files. */

/* A function in one of them; there may be millions. */
struct timeline_cell {
	const char *object; /* what tells it from others; a string of the timeline */
	uint64_t offset;
	float ns;
};

struct timeline_part {
	const char *file;
	const char *started; /* RFC 3339 */
	uint64_t duration_ns;
	uint64_t ticks; /* all of them, or those that the filter lets in */
	double ns; /* their CPU time */
	const char *hottest; /* function, or object if it has none; NULL: there was no tick */
	double hottest_ns;
	struct timeline_cell *cells; /* sorted by object and offset */
	size_t nr;
};

struct timeline {
	const struct report_options *filter; /* of its objects, comm, function; NULL: all */
	struct timeline_part *parts;
	size_t nr;
	size_t capacity;
	struct string_set strings;
};

/* Copies what it needs of a profile, before that is merged. Returns 0 or a negative errno. */
int timeline_add(struct timeline *timeline, const struct profile *profile, const char *file,
		 struct error *err);

/* Call when all are added: sorts them by time. */
void timeline_sort(struct timeline *timeline);
void timeline_free(struct timeline *timeline);

/* The CPU time in one part of a function of the sum. */
double timeline_ns(struct timeline *timeline, const struct timeline_part *part,
		   const struct profile_object *object, uint64_t offset);

/* The rows of --by time: the parts of options->timeline, of which the hottest are shown, in order. */
int timeline_rows(const struct report_options *options, struct report_rows *rows,
		  struct error *err);

/* Whether its rows have a function with all that it called, and their hottest is its hottest caller. */
static inline bool timeline_of_callers(const struct timeline *timeline)
{
	return timeline && timeline->filter && timeline->filter->tree;
}

#endif
