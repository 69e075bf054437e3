/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SAVE_H
#define BPFPROFIL_SAVE_H

#include "base/error.h"
#include "profile/profile.h"

/* Writes a profile; flags are those of output_open_as(). */
int save_profile(const struct profile *profile, const char *path, unsigned int flags,
		 struct error *err);

/*
 * The same of one that cannot be had again; a file that it replaces stays as FILE.old. What cannot
 * be written as FILE is kept where there may be room, which is a failure all the same, of which the
 * message says where.
 */
int save_last_profile(const struct profile *profile, const char *path, struct error *err);

#endif
