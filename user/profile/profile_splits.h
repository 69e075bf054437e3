/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFILE_SPLITS_H
#define BPFPROFIL_PROFILE_SPLITS_H

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

#define PROFILE_NO_SPLIT SIZE_MAX

/*
 * Compares by owner, with results as from strcmp(): 0 if both belong to the same process or cgroup.
 */
int profile_split_compare(const struct profile_split *a, const struct profile_split *b);

/* All splits in that order; the caller frees the array. NULL: out of memory. */
const struct profile_split **profile_splits_sorted(const struct profile *profile);

/* All splits by target and name, likewise. */
const struct profile_split **profile_splits_by_name(const struct profile *profile);

/*
 * For each histogram the index of the split that its ticks belong to, or PROFILE_NO_SPLIT; the
 * caller frees the array. A cgroup has the ticks of all processes in it. Processes that had the
 * same pid are told apart by name. NULL: out of memory.
 */
size_t *profile_splits_match(const struct profile *profile);

/*
 * Whether its process, or thread, says more than its object: JIT text is told apart by process even
 * in profiles that were not split.
 */
bool profile_histogram_is_split(const struct profile *profile,
				const struct profile_histogram *histogram);

/* Whether it is the sum of all splits without a tick, as earlier versions wrote it. */
bool profile_split_is_rest(const struct profile_split *split);

#endif
