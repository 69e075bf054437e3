/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SNAPSHOT_H
#define BPFPROFIL_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "host/engine/counted.h"
#include "host/engine/spaces.h"
#include "host/engine/spill.h"
#include "host/engine/split_names.h"
#include "profile/profile.h"

/* A window, and the number of its space among those seen. */
struct seen_window {
	struct window_key key;
	uint32_t dir; /* of one that is in the kernel */
	uint32_t space;
	const struct spilled_window *spilled; /* of one that is not; else NULL */
	size_t next; /* its first bin that was not read yet */
	uint64_t ticks; /* ticks found in it */
	uint64_t idle[WINDOW_PAGES / 64]; /* a bit for each page: it exists and had no ticks */
	bool retired; /* see engine/recycle.h */
	bool unreachable; /* for a retired one: no program can reach it any more */
};

struct seen {
	struct seen_window *list;
	size_t nr;
	size_t capacity;
};

/* What windows belong to, and what is found out about it. */
struct seen_names {
	const struct spaces *spaces;
	const struct split_names *splits;
	enum split split;
	uint32_t bin_shift; /* as asked */
	uint32_t *sources; /* by object id: index in spaces, or NO_SOURCE; the caller's */
	uint64_t *split_ids; /* by histogram: its split; 0: not told apart; the caller frees it */
	size_t nr_nameless; /* objects and cgroups that were never announced */
};

enum { NO_SOURCE = 0xffffffff };

/*
 * Lists all windows. Their spaces were announced before their first tick was counted, so a caller
 * that reads the records after this knows all of them.
 */
int snapshot_windows(const struct counted *counted, struct seen *result, struct error *err);

/* Adds what was moved out of the kernel. */
int snapshot_spilled(const struct spill *spill, struct seen *result, struct error *err);

/* Fills in the profile's histograms and their objects. */
int snapshot_histograms(const struct counted *counted, struct seen *seen, struct seen_names *names,
			struct profile *profile, struct error *err);

/* Makes a target's account from its tally; total is its independent count. */
int snapshot_account(const struct tally *tally, uint64_t total, struct profile_account *result,
		     struct error *err);

#endif
