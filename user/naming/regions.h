/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_REGIONS_H
#define BPFPROFIL_REGIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "profile/profile.h"
#include "naming/functions.h"

/*
 * --region OBJECT[:SYMBOL]. object is a path or its last component; symbol NULL: the whole object.
 */
struct region {
	char *object;
	char *symbol;
};

/* Whether name is the object's path or its last component. */
bool object_has_name(const struct profile_object *object, const char *name);

/* The first object with that name, or NULL. */
const struct profile_object *object_of_name(const struct profile *profile, const char *name);

/*
 * Keeps only bins that touch a region; the other bins' ticks become `filtered`. A note names each
 * region without ticks. Without regions nothing changes.
 */
int regions_apply(struct profile *profile, const struct object_opener *opener,
		  const struct region *regions, size_t nr, struct error *err);

#endif
