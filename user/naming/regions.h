/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_REGIONS_H
#define BPFPROFIL_REGIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "profile/profile.h"
#include "naming/functions.h"

/* --region OBJECT[:SYMBOL]: object is a path or its last component; symbol NULL means all of it. */
struct region {
	char *object;
	char *symbol;
};

/* Whether name is the object's path or the last component of it. */
bool object_has_name(const struct profile_object *object, const char *name);

/*
 * Keeps only those bins of the profile that touch one of the regions; the ticks of the others
 * become `filtered`. A note tells of each region that was not hit. With no regions nothing changes.
 */
int regions_apply(struct profile *profile, const struct object_opener *opener,
		  const struct region *regions, size_t nr, struct error *err);

#endif
