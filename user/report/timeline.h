/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TIMELINE_H
#define BPFPROFIL_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/profile.h"
#include "symbol/string_set.h"

/* Profiles that are added up, as they were one after the other: --interval's files, say. */

/* A function in one of them. Its object is path and build_id, which are the timeline's strings. */
struct timeline_cell {
	const char *path;
	const char *build_id; /* or NULL */
	uint64_t offset;
	const char *name; /* NULL: text without a function */
	uint64_t ticks;
	double ns;
};

struct timeline_part {
	const char *file;
	const char *started; /* RFC 3339 */
	uint64_t duration_ns;
	uint64_t ticks; /* all of them */
	double ns; /* of CPU time, in all */
	struct timeline_cell *cells; /* by object and offset */
	size_t nr;
};

struct timeline {
	struct timeline_part *parts;
	size_t nr;
	size_t capacity;
	struct string_set strings;
};

/* Takes what it needs of a profile, before that is merged. 0 or a negative errno. */
int timeline_add(struct timeline *timeline, const struct profile *profile, const char *file,
		 struct error *err);

/* When all are there: puts them into the order of time. */
void timeline_sort(struct timeline *timeline);
void timeline_free(struct timeline *timeline);

/* A function of the sum in a part; NULL: it has no tick there. */
const struct timeline_cell *timeline_find(struct timeline *timeline,
					  const struct timeline_part *part,
					  const struct profile_object *object, uint64_t offset);

#endif
