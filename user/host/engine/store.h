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

/* The session's own table of ticks and waits: see store.c. */
struct store;

/* The text of a number; kind 0: unknown. */
struct store_text {
	struct space space;
	uint32_t version; /* of just-in-time text: see jit_text.h */
};

/* An element of the kernel's map of roots. */
struct kernel_root {
	struct table_root_key key;
	struct table_root sums;
};

/* A half of the kernel's table that no program uses any more. */
struct closed_half {
	const struct table_node *nodes; /* by index in the half */
	uint32_t nr_nodes;
	const struct kernel_root *roots; /* by number; key.target == NO_TARGET: none */
	size_t nr_roots;
	const struct store_text *texts; /* by number */
	size_t nr_texts;
	const struct carries *carries; /* NULL: none; store_add() does not mark them as added */
	uint32_t half; /* 0 or 1 */
	const struct node_waits *waits; /* by index; NULL: none in any half of the store */
};

/* bin_shift: log2 of --bytes-per-bin. NULL: out of memory. */
struct store *store_new(uint32_t bin_shift);

void store_free(struct store *store); /* NULL is fine */

/* Adds all ticks and waits of a half; -ENOMEM: it added none of them. */
int store_add(struct store *store, const struct closed_half *half);

/* Removes all ticks and waits, and frees their memory. */
void store_clear(struct store *store);

/* The memory in use, in bytes, and the part of it that waits use. */
uint64_t store_bytes(const struct store *store);
uint64_t store_waits_bytes(const struct store *store);

/* --- which texts are in it -------------------------------------------------------------------- */

bool store_names_text(const struct store *store, const struct space *space);

/* The lowest version of the texts of a space; UINT32_MAX: the store has none. */
uint32_t store_first_version(const struct store *store, const struct space *space);

/*
 * Calls use() at least once for each pair of a text and a root with frames in it, and with a space
 * of kind 0 for each root with ticks or waits of its own. -ENOMEM: it was not called at all.
 */
int store_each_use(const struct store *store,
		   void (*use)(void *ctx, const struct space *space, uint32_t target,
			       uint64_t split),
		   void *ctx);

/* Calls seen() for the offset of each frame in a text. */
void store_each_site(const struct store *store, const struct store_text *text,
		     void (*seen)(void *ctx, uint64_t offset), void *ctx);

/* --- making it smaller: store_fold.c ---------------------------------------------------------- */

/*
 * Joins the ticks or waits of processes or threads that have one name. sum_of returns the split
 * that a split is added to, or 0 if it stays. -ENOMEM: nothing has changed.
 */
int store_sum_splits(struct store *store,
		     uint64_t (*sum_of)(void *ctx, uint32_t target, uint64_t split), void *ctx);

/*
 * Reduces its ticks to `bytes`. The coldest places lose detail first, and those of processes that
 * have ended before all others. They lose their callers, and then are added up in bins of 1 KiB and
 * of 64 KiB. The last resort is to forget which process they belong to. Owners with fewer places
 * than the largest ones keep theirs as long as that saves enough. -ENOMEM: it stopped on the way.
 */
int store_fold(struct store *store, uint64_t bytes,
	       bool (*has_ended)(void *ctx, uint32_t target, uint64_t split), void *ctx);

/*
 * Reduces its waits to `bytes`. Places with the least time are dropped, first those of the owners
 * with the most places. The time stays with its class, below END_FULL. -ENOMEM: it stopped on the
 * way.
 */
int store_drop_places(struct store *store, uint64_t bytes);

#endif
