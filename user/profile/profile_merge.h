/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFILE_MERGE_H
#define BPFPROFIL_PROFILE_MERGE_H

#include "base/error.h"
#include "profile/profile.h"

/*
 * Adds up profiles. The sum is byte by byte the same in any order of its parts, even if some are
 * sums themselves: every figure is an integer sum, a minimum, a set, or a value that all parts
 * share. Nothing is rescaled. Therefore accounts stay exact. Targets with another period stay
 * separate, and reports weigh their ticks by time.
 */
struct profile_merger {
	struct profile *sum; /* NULL: no part yet */
	size_t folded; /* profile_elements() at the last fold */
	size_t fold_from; /* smallest size to fold; 0: the default */
	const char *first; /* name of its first part, */
	const char *hierarchy_of; /* of the first one with a hierarchy; NULL: none, */
	const char *callers_of; /* of the first one that has callers, or that lacks them, */
	const char *waits_of; /* and likewise waits */
	bool drops_callers; /* if a part lacks callers, drop them; false: refuse the part */
	bool all_waits; /* if a part lacks waits, refuse it; false: have those of the others */
};

/* Whether it has ticks that would have callers if these had been recorded. */
bool profile_lacks_callers(const struct profile *profile);

/* Whether it has targets that would have waits if these had been recorded. */
bool profile_lacks_waits(const struct profile *profile);

/*
 * Adds a part, and owns it, even on failure. name is for messages and must outlive the merger.
 * -EINVAL: its ticks are of another kind, or only one side has callers or waits.
 */
int profile_merger_add(struct profile_merger *merger, struct profile *part, const char *name,
		       struct error *err);

/*
 * Adds the other merger's sum; the other is empty afterwards. Messages name the part in question.
 */
int profile_merger_join(struct profile_merger *merger, struct profile_merger *other,
			struct error *err);

/* Returns the sum of all parts, at least one; the caller frees it. */
int profile_merger_finish(struct profile_merger *merger, struct profile **result,
			  struct error *err);

void profile_merger_free(struct profile_merger *merger);

/*
 * Appends the lists of another profile: targets, splits, objects, histograms, callers, functions,
 * notes and hosts. The head and the total account do not change. -ENOMEM: both profiles are
 * unchanged.
 */
int profile_append(struct profile *profile, struct profile *other);

/* The size of a profile in memory, in bins of 16 bytes. */
size_t profile_elements(const struct profile *profile);

/*
 * Orders the lists of a profile by their contents only, and combines duplicates. Each target must
 * have its host and period. -ENOMEM: the lists are valid, but their ids may not match.
 */
int profile_fold(struct profile *profile);

/* Orders objects by what makes them equal in a sum of one host's profiles. */
int profile_compare_objects(const struct profile_object *a, const struct profile_object *b);

/* The indices from the first on; the caller frees them. NULL: out of memory. */
uint32_t *profile_indices_from(size_t first, size_t nr);

/* Gives all lists the new index of each target and object. */
void profile_renumber(struct profile *profile, const uint32_t *targets, const uint32_t *objects);

/*
 * Combines files of one path and build id, as five containers of an image have them, so that a
 * function is one row. -ENOMEM: the profile is valid, but may have duplicates.
 */
int profile_join_copies(struct profile *profile);

#endif
