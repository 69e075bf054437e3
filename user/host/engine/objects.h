/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_OBJECTS_H
#define BPFPROFIL_OBJECTS_H

#include "base/error.h"
#include "host/engine/spaces.h"
#include "profile/profile.h"

/*
 * Makes the profile_object of a space: path, build id, text. info is NULL if the space was never
 * announced.
 */
int object_describe(const struct space *space, const struct space_info *info,
		    struct profile_object *result, struct error *err);

#endif
