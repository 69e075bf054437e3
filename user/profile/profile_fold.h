/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFILE_FOLD_H
#define BPFPROFIL_PROFILE_FOLD_H

#include "profile/profile.h"

struct folding {
	void *list; /* address of the pointer to the list, of any type */
	size_t *nr;
	size_t size;
	const struct profile_member *members; /* of an element, which is freed after adding it */
	int (*compare)(const void *left, const void *right);
	/*
	 * Elements with different keys are ordered by these, without calling compare. May be NULL.
	 */
	void (*fill_key)(const void *element, uint64_t key[2]);
	/*
	 * Adds an equal element, which is freed then; NULL: the sum is the first. -ENOMEM: all
	 * elements are still valid.
	 */
	int (*add)(void *sum, void *part);
};

#define FOLD(owner, member, members_of, order, prefix, sum)                                        \
	(struct folding)                                                                           \
	{                                                                                          \
		.list = &(owner)->member, .nr = &(owner)->nr_##member,                             \
		.size = sizeof(*(owner)->member), .members = members_of, .compare = order,         \
		.fill_key = prefix, .add = sum                                                     \
	}

/*
 * Sorts the list and combines equal elements. ids, unless NULL, receives the new index of each
 * element by its old one. -ENOMEM: all elements are still there.
 */
int folding_fold(struct folding folding, uint32_t *ids);

/* The indices from the first on; the caller frees them. NULL: out of memory. */
uint32_t *profile_indices_from(size_t first, size_t nr);

/* Gives all lists the new index of each target and object. */
void profile_renumber(struct profile *profile, const uint32_t *targets, const uint32_t *objects);

/* Folds the waits of a profile, whose targets and objects have their new indices. 0 or -ENOMEM. */
int profile_waits_fold(struct profile_waits *waits);

#endif
