/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFILE_APPEND_H
#define BPFPROFIL_PROFILE_APPEND_H

#include "profile/profile.h"

/*
 * Appends the lists of another profile to those of this one: its targets, splits, objects,
 * histograms, functions, notes and hosts. The head and the total account do not change. -ENOMEM:
 * both profiles are unchanged.
 */
int profile_append(struct profile *profile, struct profile *other);

#endif
