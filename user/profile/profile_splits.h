/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFILE_SPLITS_H
#define BPFPROFIL_PROFILE_SPLITS_H

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

#define PROFILE_NO_SPLIT SIZE_MAX

/* Compares by owner, like strcmp(): 0 if both belong to the same process or cgroup. */
int profile_split_compare(const void *left, const void *right);

/* Returns all splits by target and name; the caller frees the array. NULL: out of memory. */
const struct profile_split **profile_splits_by_name(const struct profile *profile);

/*
 * Finds for each histogram the index of the split with its ticks, or PROFILE_NO_SPLIT; the caller
 * frees the array. A cgroup has the ticks of all its processes. Processes with the same pid are
 * distinguished by name. NULL: out of memory.
 */
size_t *profile_splits_match(const struct profile *profile);

/*
 * Whether its process or thread is of interest: JIT text has a process even in profiles that are
 * not split.
 */
bool profile_histogram_is_split(const struct profile *profile,
				const struct profile_histogram *histogram);

/* Sorts the splits in that order, and adds up those of one owner. Returns 0 or -ENOMEM. */
int profile_splits_fold(struct profile *profile);

/* Whether it is the sum of all splits without ticks, as earlier versions wrote it. */
bool profile_split_is_rest(const struct profile_split *split);

#endif
