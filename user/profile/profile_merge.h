/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFILE_MERGE_H
#define BPFPROFIL_PROFILE_MERGE_H

#include "base/error.h"
#include "profile/profile.h"

/*
 * Adds profiles up. The sum is the same to the byte in whatever order its parts come, even if some
 * of them are sums: every figure in it is an integer sum, a minimum, a set, or what all parts have
 * in common. Nothing is rescaled, so every account stays exact: a target that was sampled with
 * another period stays separate and says so, and reports weigh its ticks by time.
 */
struct profile_merger {
	struct profile *sum; /* NULL: no part was added yet */
	size_t folded; /* its profile_elements() when it was last folded */
	size_t fold_from; /* it is not folded below this size; 0: the default */
	const char *first; /* the name of its first part, */
	const char *hierarchy_of; /* of the first one with a hierarchy, NULL: none has one, */
	const char *callers_of; /* and of the first one with callers, or with ticks that lack them */
	bool drops_callers; /* the sum has none if a part lacks them; otherwise such a part is refused */
};

/* Whether it has ticks that would be in its callers if anybody had asked for them. */
bool profile_lacks_callers(const struct profile *profile);

/*
 * Adds a part and takes it over, even on failure. name is used in messages and must outlive the
 * merger. -EINVAL: its ticks are of another kind than the ones before, or only either has callers.
 */
int profile_merger_add(struct profile_merger *merger, struct profile *part, const char *name,
		       struct error *err);

/*
 * Adds what the other merger holds, which is empty afterwards. A message names the part that it
 * concerns.
 */
int profile_merger_join(struct profile_merger *merger, struct profile_merger *other,
			struct error *err);

/* Returns the sum of all parts, at least one; the caller frees it. */
int profile_merger_finish(struct profile_merger *merger, struct profile **result,
			  struct error *err);

void profile_merger_free(struct profile_merger *merger);

/*
 * Appends the lists of another profile to those of this one: its targets, splits, objects,
 * histograms, callers, functions, notes and hosts. The head and the total account do not change. -ENOMEM:
 * both profiles are unchanged.
 */
int profile_append(struct profile *profile, struct profile *other);

/* How large a profile is in memory, in bins of 16 bytes each. */
size_t profile_elements(const struct profile *profile);

/* Compares two RFC 3339 times; the result is below, above or equal to 0, as with strcmp(). */
int profile_compare_times(const char *a, const char *b);

/*
 * Puts the lists of a profile, which may name a thing several times, into an order that depends
 * only on their contents, with each thing once and its ticks added up. Each target must name its
 * host and its period. -ENOMEM: the lists are valid, but their ids may no longer match.
 */
int profile_fold(struct profile *profile);

/*
 * Files of one path and one build id, as five containers of an image have them, become one object, so that
 * a function is one row. -ENOMEM: the profile is valid, but may still name a thing several times.
 */
int profile_join_copies(struct profile *profile);

#endif
