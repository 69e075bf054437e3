/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_WAITS_VIEW_H
#define BPFPROFIL_WAITS_VIEW_H

#include "profile/profile.h"
#include "profile/waits.h"

/*
 * The waits of a profile as a profile, so that tables, pages and exports read them like ticks. Its
 * ticks are nanoseconds. Each class is a function of a pseudo-object, called by the text that
 * waited:
 *
 *     main
 *       read_all
 *         __libc_read
 *           [read]   3,000,000,000
 */
struct waits_view {
	struct profile profile; /* borrows from its source, which must outlive it */
	const struct profile *of; /* that source */
	uint32_t object; /* of the classes: the function of class i is at offset i */
	char **classes; /* their names, like "futex" and "read I/O" */
	bool has_chains; /* else the callers of a class are only the places that waited */
	/* The rest is private. */
	struct profile_callers callers;
	char **names; /* of their functions */
	size_t nr_names;
	size_t histograms; /* index of the first that it owns */
};

/*
 * The chosen classes, by patterns for their names: "read" also means waits of read for I/O, which
 * "read I/O" alone means.
 */
struct waits_choice {
	const char *const *only; /* none: all */
	size_t nr_only;
	const char *const *without;
	size_t nr_without;
};

bool waits_choice_has(const struct waits_choice *choice, const struct profile_wait_class *class);

/* The name of a class, like "futex" and "read I/O"; the caller frees it. NULL: out of memory. */
char *wait_class_full_name(const struct profile_wait_class *class);

/*
 * Adds up blocked time of a target, or PROFILE_ALL_TARGETS, by how the walks to its callers ended.
 * -ENOMEM.
 */
int waits_walks(const struct profile *profile, uint64_t target, struct callers_account *walks);

/*
 * Makes the view. with_cpu: it also has all ticks and the account of these; their targets come
 * first, and those of waits have `waits` set. choice may be NULL for all classes. Returns 0 or
 * -ENOMEM. Call waits_view_close() in any case.
 */
int waits_view_open(struct waits_view *view, const struct profile *profile,
		    const struct waits_choice *choice, bool with_cpu);
void waits_view_close(struct waits_view *view);

#endif
