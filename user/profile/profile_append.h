/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFILE_APPEND_H
#define BPFPROFIL_PROFILE_APPEND_H

#include "profile/profile.h"

/*
 * Moves the targets of another profile behind those of this one, with their objects and histograms.
 * The whole account stays what it was: the others' ticks are those of another clock. -ENOMEM: both
 * are as they were.
 */
int profile_append(struct profile *profile, struct profile *other);

#endif
