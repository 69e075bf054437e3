/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_DEBUG_PACKAGE_H
#define BPFPROFIL_DEBUG_PACKAGE_H

#include <stdbool.h>

#include "profile/profile.h"

enum { PACKAGE_BYTES = 128 };

/*
 * The name of the package with the debug symbols of a file, as Debian and those who follow it have
 * it. false, and name unchanged: the file is not this host's or from no package, or apt knows none
 * of that name.
 */
bool debug_package(const struct profile_object *file, char name[PACKAGE_BYTES]);

/* Which package lists the path, by the lists in that folder. */
bool package_of(const char *lists, const char *path, char name[PACKAGE_BYTES]);

/* Whether apt could install it: by its cache below root, or by lists that it has not compressed. */
bool package_can_be_had(const char *root, const char *name);

#endif
