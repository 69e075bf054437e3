/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SEGMENTS_H
#define BPFPROFIL_SEGMENTS_H

#include <stdint.h>

#include "base/error.h"
#include "profile/profile.h"
#include "profile/profile_merge.h"

/*
 * A profile of several stretches of time, each with a period of its own. Each becomes targets of its
 * own in the sum, so that no tick is weighed by another's period.
 */
struct segments {
	struct profile_merger merger;
	struct profile_segment *list;
	size_t nr;
	size_t capacity;
	uint64_t since_ns; /* when the first began */
};

/*
 * Adds one that began at since_ns, by the clock of monotonic_ns(); it is this list's from then on, also
 * when it fails.
 */
int segments_add(struct segments *segments, struct profile *part, uint64_t since_ns,
		 struct error *err);

/*
 * With the last one, *profile, it becomes the whole; and the list is empty again. Without any before
 * it nothing changes. After a failure *profile is NULL.
 */
int segments_finish(struct segments *segments, struct profile **profile, uint64_t since_ns,
		    struct error *err);

void segments_free(struct segments *segments);

#endif
