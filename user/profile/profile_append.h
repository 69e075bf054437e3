/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFILE_APPEND_H
#define BPFPROFIL_PROFILE_APPEND_H

#include "profile/profile.h"

/*
 * Moves the lists of another profile behind those of this one: its targets, splits, objects,
 * histograms, functions, notes and hosts. The head and the whole account stay what they were. -ENOMEM: both
 * profiles are as they were.
 */
int profile_append(struct profile *profile, struct profile *other);

#endif
