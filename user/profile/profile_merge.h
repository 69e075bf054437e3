/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFILE_MERGE_H
#define BPFPROFIL_PROFILE_MERGE_H

#include "base/error.h"
#include "profile/profile.h"

/*
 * Profiles added up. The sum is the same to the byte in whatever order its parts come, and when some
 * of them are sums already: every figure in it is an integer sum, a least one, a set, or what all
 * parts have in common. Nothing is rescaled, so every account stays exact: a target that was sampled
 * with another period stays one of its own and says so, and reports weigh its ticks by time.
 */
struct profile_merger {
	struct profile *sum; /* NULL: of nothing yet */
	size_t folded; /* profile_elements() of it when it was last folded */
	size_t fold_from; /* how many there are at least when it is; 0: as many as files are worth */
	const char *first; /* the name of its first part, */
	const char *hierarchy_of; /* and of the first that has a hierarchy; NULL: none has */
};

/*
 * Adds a part, which is the merger's from then on, also when this fails. name is for the message, and
 * outlives the merger. -EINVAL: its ticks are of another kind than those before.
 */
int profile_merger_add(struct profile_merger *merger, struct profile *part, const char *name,
		       struct error *err);

/* Adds what another one holds, which then holds nothing. The message names the part it is about. */
int profile_merger_join(struct profile_merger *merger, struct profile_merger *other,
			struct error *err);

/* The sum of one part at least; the caller frees it. */
int profile_merger_finish(struct profile_merger *merger, struct profile **ret, struct error *err);

void profile_merger_free(struct profile_merger *merger);

/* How large a profile is in memory, in bins, of 16 bytes each. */
size_t profile_elements(const struct profile *profile);

/* Which of two times of RFC 3339 is the earlier one: below, above or 0, as strcmp() has it. */
int profile_compare_times(const char *a, const char *b);

/*
 * Brings the lists of a profile, each of which may name a thing several times, into one order that
 * depends on what they hold alone, every thing once and its ticks added up. Each target must name
 * its host and its period. -ENOMEM: the lists are whole, but their ids may no longer fit.
 */
int profile_fold(struct profile *profile);

#endif
