/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_STORE_FOLD_H
#define BPFPROFIL_STORE_FOLD_H

#include "host/engine/store.h"

/*
 * Joins the ticks or waits of processes or threads that have one name. sum_of returns the split
 * that a split is added to, or 0 if it stays. -ENOMEM: nothing has changed.
 */
int store_sum_splits(struct store *store,
		     uint64_t (*sum_of)(void *ctx, uint32_t target, uint64_t split), void *ctx);

/*
 * Reduces the table to `bytes`. The coldest places lose detail first, and those of processes that
 * have ended before all others. They lose their callers, and then are added up in bins of 1 KiB and
 * of 64 KiB. The last resort is to forget which process they belong to. Owners with fewer places
 * than the largest ones keep theirs as long as that saves enough. -ENOMEM: it stopped on the way.
 */
int store_fold(struct store *store, uint64_t bytes,
	       bool (*has_ended)(void *ctx, uint32_t target, uint64_t split), void *ctx);

/*
 * Reduces a store of waits to about `bytes`. Places with the least time are dropped, first those of
 * the owners with the most places. The time stays with its class, below END_FULL. -ENOMEM: nothing
 * has changed.
 */
int store_drop_places(struct store *store, uint64_t bytes);

#endif
