/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SNAPSHOT_H
#define BPFPROFIL_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "engine/counted.h"
#include "engine/spaces.h"
#include "engine/split_names.h"
#include "profile/profile.h"

/* A window with the number of its space among those seen. */
struct seen_window {
	struct window_key key;
	uint32_t dir;
	uint32_t space;
	uint64_t ticks; /* found in it */
	uint64_t idle[WINDOW_PAGES / 64]; /* by page, in bits: it is there and none were in it */
	bool retired; /* see engine/recycle.h */
	bool unreachable; /* of a retired one: no program comes to it any more */
};

struct seen {
	struct seen_window *list;
	size_t nr;
	size_t capacity;
};

/* What stands behind windows, and what is found out of it on the way. */
struct seen_names {
	const struct spaces *spaces;
	const struct split_names *splits;
	bool by_cgroup; /* what splits are: cgroups, not processes */
	uint32_t *sources; /* by object id its place in spaces, or NO_SOURCE; the caller frees it */
	uint64_t *split_ids; /* by histogram whose it is; 0: not told apart; likewise */
	size_t nr_nameless; /* objects, processes and cgroups that user space was never told of */
};

enum { NO_SOURCE = 0xffffffff };

/*
 * All windows there are. Their spaces were told before their first tick was counted, so who takes
 * in the records after this knows them all.
 */
int snapshot_windows(const struct counted *counted, struct seen *ret, struct error *err);

/* Fills in the profile's histograms, and as objects what these are of. */
int snapshot_histograms(const struct counted *counted, struct seen *seen, struct seen_names *names,
			struct profile *profile, struct error *err);

/* A target's account from its tally; total is its independent count. */
int snapshot_account(const struct tally *tally, uint64_t total, struct profile_account *ret,
		     struct error *err);

/* The JSON key of a cause. */
const char *lost_cause_name(enum lost_cause cause);

#endif
