/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_STORE_H
#define BPFPROFIL_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "host/engine/counted.h"
#include "host/engine/kernel_modules.h"
#include "host/engine/spaces.h"
#include "host/engine/split_names.h"
#include "profile/profile.h"
#include "shared/abi.h"
#include "shared/waits_abi.h"

/* The session's own table of ticks: see store.c. */
struct store;

/* The text that a number stands for; kind 0: unknown. */
struct store_text {
	struct space space;
	uint32_t version; /* of just-in-time text: see jit_text.h */
};

/* A root of the kernel's table. */
struct store_root {
	struct table_root_key key;
	uint32_t number;
	uint64_t ticks; /* outside of all text */
	/* Of a root of waits: see struct table_root. */
	uint64_t on_cpu_ns;
	uint64_t cpu_ns;
	uint64_t unaccounted_ns;
};

/* A half of the kernel's table that no program uses any more. */
struct closed_half {
	const struct table_node *nodes; /* by index in the half */
	uint32_t nr_nodes;
	const struct store_root *roots; /* by number; key.target == NO_TARGET: none */
	size_t nr_roots;
	const struct store_text *texts; /* by number */
	size_t nr_texts;
	const struct carries *carries; /* NULL: none; store_add() does not mark them as taken */
	uint32_t half; /* 0 or 1 */
	const struct node_waits *waits; /* by index; NULL: ticks are added, and no waits */
};

/* bin_shift: log2 of --bytes-per-bin. NULL: out of memory. */
struct store *store_new(uint32_t bin_shift);

/* A store of waits: instead of ticks it has the waits of nodes. They are below roots of END_WAIT. NULL: out of memory. */
struct store *store_new_waits(uint32_t bin_shift);

void store_free(struct store *store); /* NULL is fine */

/* Adds all ticks of a half; -ENOMEM: it added none of them. */
int store_add(struct store *store, const struct closed_half *half);

/* Removes all ticks, and frees their memory. */
void store_clear(struct store *store);

/* The memory in use, in bytes. */
uint64_t store_bytes(const struct store *store);

/* --- store_fold.c: makes it smaller, without losing a tick ----------------------------------------- */

/*
 * Joins the ticks or waits of processes or threads that have one name. sum_of returns the split that a split is added to, or 0
 * if it stays. -ENOMEM: nothing has changed.
 */
int store_sum_splits(struct store *store,
		     uint64_t (*sum_of)(void *ctx, uint32_t target, uint64_t split), void *ctx);

/*
 * Reduces the table to so many bytes. The coldest places lose detail first, and those of processes that have ended
 * before all others. They lose their callers, then they are added up in bins of 1 KiB and of 64 KiB. The last resort
 * is to forget which process they belong to. Owners who have fewer places than the largest ones keep theirs as long
 * as that saves enough. -ENOMEM: it stopped on the way.
 */
int store_fold(struct store *store, uint64_t bytes,
	       bool (*has_ended)(void *ctx, uint32_t target, uint64_t split), void *ctx);

/*
 * Reduces a store of waits to about so many bytes. Places with the least time are dropped, first those of the owners who
 * have most places. The time stays with its class, below END_FULL. -ENOMEM: nothing has changed.
 */
int store_drop_places(struct store *store, uint64_t bytes);

/* --- which texts are in it ------------------------------------------------------------------------ */

bool store_names_text(const struct store *store, const struct space *space);

/* The lowest version of the texts of a space; UINT32_MAX: the store has none. */
uint32_t store_first_version(const struct store *store, const struct space *space);

/*
 * Calls use() at least once for each text and each root that has frames in it, and with a space of kind 0 for each
 * root that has ticks of its own. -ENOMEM: it was not called at all.
 */
int store_each_use(const struct store *store,
		   void (*use)(void *ctx, const struct space *space, uint32_t target,
			       uint64_t split),
		   void *ctx);

/* Calls seen() for the offset of each frame in a text. */
void store_each_site(const struct store *store, const struct store_text *text,
		     void (*seen)(void *ctx, uint64_t offset), void *ctx);

/* --- store_profile.c: from there to a profile ------------------------------------------------------ */

/* Names for a profile, and what was found on the way. The spaces and splits must be sorted. */
struct seen_names {
	const struct spaces *spaces;
	const struct split_names *splits;
	enum split split;
	uint32_t *sources; /* by object id: index in spaces, or NO_SOURCE; the caller frees it */
	uint64_t *split_ids; /* by histogram: its split; 0: none; the caller frees it */
	size_t nr_nameless; /* objects and cgroups that were never announced */
};

enum { NO_SOURCE = 0xffffffff };

/*
 * Fills in the profile's histograms and objects, and its callers if asked. Adds to the tally of each target how many
 * ticks are binned and outside, and how many of these are coarse, widest, unknown or left out. modules may be empty.
 * -ENOMEM.
 */
int store_fill(const struct store *store, struct seen_names *names, struct tally *tallies,
	       const struct kernel_modules *modules, bool callers, struct profile *profile,
	       struct error *err);

/* What a target, or one of its splits, has beside its waits. */
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
 * store_waits.c: fills in the profile's waits from a store of waits, after its ticks. profile->objects and names->sources grow
 * by what only waits have. -ENOMEM.
 */
int store_fill_waits(const struct store *store, const struct waits_accounts *accounts,
		     struct seen_names *names, const struct kernel_modules *modules,
		     struct profile *profile, struct error *err);

#endif
