/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SEGMENTS_H
#define BPFPROFIL_SEGMENTS_H

#include <stdint.h>

#include "base/error.h"
#include "profile/profile.h"
#include "profile/profile_merge.h"

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
