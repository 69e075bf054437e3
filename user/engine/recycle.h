/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_RECYCLE_H
#define BPFPROFIL_RECYCLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "engine/grace_period.h"
#include "engine/pool.h"
#include "engine/snapshot.h"
#include "shared/abi.h"

/* A page of counters that a directory had as its entry. */
struct retired_page {
	uint32_t dir;
	uint32_t entry;
	uint32_t number;
};

/*
 * Gives back what a session that is taken from holds for text that nobody runs any more, so that it
 * can go on for days. All of it takes two takes, for a program may be on its way at any moment:
 *
 * A window without a tick since the last take is taken out of the table and out of the caches. By
 * the next take every program that had found it before has ended; that take reads what these still
 * counted, and then its pages and its directory may be claimed anew.
 *
 * A page without a tick since, of a window that has some elsewhere, is taken out of the directory:
 * a compiler comes to every page of its text in the end, and to few of them in a minute. What was
 * still counted in it is moved into the page that took its place, and it may be claimed anew.
 *
 * A file, process or cgroup that no window is of is struck off the list of those told of. If it has
 * a window at the next take nevertheless, it stays; else it is forgotten, and told again if it
 * comes back.
 */
struct recycler {
	struct seen_window *retired; /* out of the table, not yet free */
	size_t nr;
	size_t capacity;
	struct retired_page *pages; /* out of their directories, not yet free */
	size_t nr_pages;
	size_t page_capacity;
	bool struck; /* something was, and may be forgotten */
	struct grace_period grace;
};

/* The maps that it is about; the session's. */
struct recycled {
	struct pool *pool;
	struct xlat_set *xlat;
	size_t nr_sets;
	int windows_fd;
	int told_fd;
	int free_pages_fd;
	int free_dirs_fd;
};

void recycler_init(struct recycler *recycler);

/* First in a take: returns when every program that ran has ended, if that matters to anyone. */
int recycler_wait(struct recycler *recycler, struct error *err);

/* Then, before counters are read: frees the pages that were retired, or gives them back. */
void recycler_settle(struct recycler *recycler, const struct recycled *recycled);

/* Adds the windows that are out of the table to those in it. */
int recycler_add(const struct recycler *recycler, struct seen *seen, struct error *err);

/* Who has a window: spaces, and the processes or cgroups of a split. */
struct uses {
	struct space *list;
	size_t nr;
};

int uses_find(const struct seen *seen, enum split split, struct uses *ret, struct error *err);
void uses_free(struct uses *uses);

/*
 * Once in each take, for all that was told of: true when it is to be forgotten. *struck is the
 * caller's to keep, false at first.
 */
bool recycler_forgets(struct recycler *recycler, const struct recycled *recycled,
		      const struct uses *uses, const struct space *space, bool *struck);

/*
 * Last in a take, with what it has seen: frees what was retired before and retires what was idle.
 * What cannot be done for want of memory is left to the next take.
 */
void recycler_turn(struct recycler *recycler, const struct recycled *recycled,
		   const struct seen *seen);

void recycler_free(struct recycler *recycler);

#endif
