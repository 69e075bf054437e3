/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SAVE_H
#define BPFPROFIL_SAVE_H

#include "base/error.h"
#include "profile/profile.h"

/* Writes a profile; flags are those of output_open_as(). */
int save_profile(const struct profile *profile, const char *path, unsigned int flags,
		 struct error *err);

/*
 * The same for a profile that cannot be made again; a file that it replaces stays as FILE.old. If
 * it cannot be written to FILE it is kept where there may be room. That still counts as a failure,
 * and the message says where the file is.
 */
int save_last_profile(const struct profile *profile, const char *path, struct error *err);

#endif
