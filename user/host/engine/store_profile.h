/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_STORE_PROFILE_H
#define BPFPROFIL_STORE_PROFILE_H

#include "host/engine/kernel_modules.h"
#include "host/engine/spaces.h"
#include "host/engine/split_names.h"
#include "host/engine/store.h"
#include "profile/profile.h"
#include "shared/waits_abi.h"

/* Names for a profile, and results of the search for them. The spaces and splits must be sorted. */
struct seen_names {
	const struct spaces *spaces;
	const struct split_names *splits;
	enum split split;
	uint32_t *sources; /* by object id: index in spaces, or NO_SOURCE; the caller frees it */
	uint64_t *split_ids; /* by histogram: its split; 0: none; the caller frees it */
	size_t nr_nameless; /* objects and cgroups that were never announced */
};

enum { NO_SOURCE = 0xffffffff };

struct store_fill_request {
	struct seen_names *names;
	struct tally *tallies; /* by target */
	const struct kernel_modules *modules; /* may be empty */
	bool callers; /* fill in the profile's callers, too */
	const struct waits_accounts *waits; /* fill in its waits with these accounts; NULL: none */
};

/* The time of a target, or one of its splits, outside of waits. */
struct waits_account {
	struct spent_key key;
	uint64_t on_cpu_ns;
	uint64_t cpu_ns;
	uint64_t unaccounted_ns;
};

/* Accounts, and by target the waits that are in no node. */
struct waits_accounts {
	struct waits_account *list;
	size_t nr;
	size_t capacity;
	struct node_waits *unplaced;
	size_t nr_unplaced;
};

/*
 * Fills in the profile's histograms and objects. Adds to the tallies how many ticks are binned and
 * outside, and how many of these are coarse, widest, unknown or left out. -ENOMEM.
 */
int store_fill(const struct store *store, const struct store_fill_request *request,
	       struct profile *profile, struct error *err);

#endif
