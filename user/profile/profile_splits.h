/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFILE_SPLITS_H
#define BPFPROFIL_PROFILE_SPLITS_H

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

#define PROFILE_NO_SPLIT SIZE_MAX

/* By whose they are, as the numbers of strcmp(): 0 when they are one process's or cgroup's. */
int profile_split_compare(const struct profile_split *a, const struct profile_split *b);

/* All splits in that order; the caller frees. NULL: out of memory. */
const struct profile_split **profile_splits_sorted(const struct profile *profile);

/*
 * For each histogram the index of the split that its ticks are of, or PROFILE_NO_SPLIT; the caller
 * frees. A cgroup's are of all processes in it. Names tell apart the processes that had one pid.
 * NULL: out of memory.
 */
size_t *profile_splits_match(const struct profile *profile);

/* Whether it is the sum of all that had no tick. */
bool profile_split_is_rest(const struct profile_split *split);

#endif
