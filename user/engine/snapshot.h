/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SNAPSHOT_H
#define BPFPROFIL_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "engine/pool.h"
#include "engine/spaces.h"
#include "profile/profile.h"

/* What the programs have counted, in place. All belongs to the session. */
struct counted {
	const struct pool *pool;
	const struct xlat_set *xlat;
	size_t nr_sets;
	const struct cpu_account *cpus;
	size_t nr_cpus;
	const struct target_account *targets;
	size_t nr_targets;
	int windows_fd;
	int carries_fd;
	bool any_carry; /* found out by snapshot_histograms */
};

/* A window with the object it lies in. */
struct seen_window {
	struct window_key key;
	uint32_t dir;
	uint32_t object;
};

/*
 * Fills in the profile's objects and histograms. (*ret_sources)[id] is what stands behind object
 * id, NULL where user space was never told of it; the caller frees the array.
 */
int snapshot_histograms(struct counted *counted, const struct spaces *spaces,
			struct profile *profile, const struct space_info ***ret_sources,
			struct error *err);

/* Fills in one target's account but binned, and withheld ticks as the throttled ones. */
int snapshot_account(const struct counted *counted, uint32_t target, uint64_t withheld,
		     struct profile_account *ret, struct error *err);

/* The JSON key of a cause. */
const char *lost_cause_name(enum lost_cause cause);

/* Ticks of a target so far: what entries still hold and what they gave up. */
uint64_t snapshot_ticks(const struct counted *counted, uint32_t target);

#endif
