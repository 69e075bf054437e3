// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "profile/profile_append.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Room for nr more; the array's own length is *length. */
static int extend(void **array, size_t length, size_t nr, size_t size)
{
	void *grown = reallocarray(*array, length + nr + 1, size);

	if (!grown)
		return -ENOMEM;
	*array = grown;
	return 0;
}

static void move(void *to, size_t *to_nr, void **from, size_t *from_nr, size_t size)
{
	if (*from_nr)
		memcpy((char *)to + *to_nr * size, *from, *from_nr * size);
	*to_nr += *from_nr;
	free(*from);
	*from = NULL;
	*from_nr = 0;
}

int profile_append(struct profile *profile, struct profile *other)
{
	uint32_t targets = (uint32_t)profile->nr_targets, objects = (uint32_t)profile->nr_objects;
	size_t i;

	if (extend((void **)&profile->targets, profile->nr_targets, other->nr_targets,
		   sizeof(*profile->targets)) ||
	    extend((void **)&profile->objects, profile->nr_objects, other->nr_objects,
		   sizeof(*profile->objects)) ||
	    extend((void **)&profile->histograms, profile->nr_histograms, other->nr_histograms,
		   sizeof(*profile->histograms)))
		return -ENOMEM;
	for (i = 0; i < other->nr_histograms; i++) {
		other->histograms[i].target += targets;
		other->histograms[i].object += objects;
	}
	move(profile->targets, &profile->nr_targets, (void **)&other->targets, &other->nr_targets,
	     sizeof(*other->targets));
	move(profile->objects, &profile->nr_objects, (void **)&other->objects, &other->nr_objects,
	     sizeof(*other->objects));
	move(profile->histograms, &profile->nr_histograms, (void **)&other->histograms,
	     &other->nr_histograms, sizeof(*other->histograms));
	return 0;
}
