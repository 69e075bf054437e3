// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/record/segments.h"

#include <stdlib.h>

#include "base/util.h"

/* Extends the last segment; false if that has another period. */
static bool extend_segment(struct segments *segments, const struct profile *part, uint64_t since_ns)
{
	struct profile_segment *last = segments->nr ? &segments->list[segments->nr - 1] : NULL;

	if (!last || last->period_ns != part->sampling.period_ns)
		return false;
	last->duration_ns = since_ns - segments->since_ns + part->duration_ns - last->since_ns;
	return true;
}

int segments_add(struct segments *segments, struct profile *part, uint64_t since_ns,
		 struct error *err)
{
	if (extend_segment(segments, part, since_ns))
		return profile_merger_add(&segments->merger, part, "profile", err);
	if (grow((void **)&segments->list, &segments->capacity, segments->nr + 1,
		 sizeof(*segments->list))) {
		profile_free(part);
		return error_no_memory(err, "profile");
	}
	if (!segments->nr)
		segments->since_ns = since_ns;
	segments->list[segments->nr++] = (struct profile_segment){
		.since_ns = since_ns - segments->since_ns,
		.duration_ns = part->duration_ns,
		.period_ns = part->sampling.period_ns,
	};
	return profile_merger_add(&segments->merger, part, "profile", err);
}

int segments_finish(struct segments *segments, struct profile **profile, uint64_t since_ns,
		    struct error *err)
{
	struct profile *last = *profile;
	int ret;

	if (!segments->nr)
		return 0;
	*profile = NULL;
	ret = segments_add(segments, last, since_ns, err);
	if (!ret)
		ret = profile_merger_finish(&segments->merger, profile, err);
	/* With a single period there are no segments to list. */
	if (!ret && segments->nr > 1) {
		(*profile)->sampling.segments = segments->list;
		(*profile)->sampling.nr_segments = segments->nr;
		segments->list = NULL;
	}
	segments_free(segments);
	return ret;
}

void segments_free(struct segments *segments)
{
	profile_merger_free(&segments->merger);
	free(segments->list);
	*segments = (struct segments){ 0 };
}
