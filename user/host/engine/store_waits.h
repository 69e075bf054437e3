/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_STORE_WAITS_H
#define BPFPROFIL_STORE_WAITS_H

#include "host/engine/store_profile.h"
#include "shared/waits_abi.h"

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
 * Fills in the profile's waits from a store of waits, after its ticks. profile->objects and
 * names->sources grow by those that only waits have. -ENOMEM.
 */
int store_fill_waits(const struct store *store, const struct waits_accounts *accounts,
		     struct seen_names *names, const struct kernel_modules *modules,
		     struct profile *profile, struct error *err);

#endif
