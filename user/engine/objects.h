/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_OBJECTS_H
#define BPFPROFIL_OBJECTS_H

#include "base/error.h"
#include "engine/spaces.h"
#include "profile/profile.h"

/* A space's profile_object: path, build id, text. info is NULL when it was never announced. */
int object_describe(const struct space *space, const struct space_info *info,
		    struct profile_object *ret, struct error *err);

#endif
