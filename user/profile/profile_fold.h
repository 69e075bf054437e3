/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFILE_FOLD_H
#define BPFPROFIL_PROFILE_FOLD_H

#include "profile/profile.h"

/*
 * Brings the lists of a profile, each of which may name a thing several times, into one order that
 * depends on what they hold alone, every thing once and its ticks added up. Each target must name
 * its host and its period. -ENOMEM: the lists are whole, but their ids may no longer fit.
 */
int profile_fold(struct profile *profile);

#endif
