/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_RECYCLE_H
#define BPFPROFIL_RECYCLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "host/engine/maps.h"
#include "host/engine/pool.h"
#include "host/engine/snapshot.h"
#include "shared/abi.h"

/* A page of counters that was taken out of its directory's entry. */
struct retired_page {
	uint32_t dir;
	uint32_t entry;
	uint32_t number;
};

/*
 * Frees what a session holds for text that nobody runs any more, so that it can go on for days.
 * This always takes two takes, because a program may be under way at any moment:
 *
 * A window without a tick since the last take is removed from the table and the caches. By the next
 * take every program that had found it before has ended. That take reads what these programs still
 * counted, and frees the window's pages and directory.
 *
 * A page without a tick since the last take, in a window that has some elsewhere, is removed from
 * its directory: a compiler runs every page of its text in the end, but few of them in a minute.
 * What was still counted in the page is moved to the page that took its place, and then it is
 * freed.
 *
 * A file or cgroup without a window is struck off the list of those announced. If it has a
 * window again at the next take, it stays; otherwise it is forgotten, and announced again if it
 * comes back.
 */
struct recycler {
	struct seen_window *retired; /* removed from the table, not yet free */
	size_t nr;
	size_t capacity;
	struct retired_page *pages; /* removed from their directories, not yet free */
	size_t nr_pages;
	size_t page_capacity;
	bool struck; /* something was struck, or is not used any more, and may be forgotten */
	struct grace_period grace;
};

/* The maps that are recycled; they belong to the session. */
struct recycled {
	struct pool *pool;
	struct xlat_set *xlat;
	size_t nr_sets;
	int windows_fd;
	int told_fd;
	uint32_t *untold; /* see struct cpu_time */
	uint32_t *any_free; /* the programs look for free pages and directories only if there were any */
	int free_pages_fd;
	int free_dirs_fd;
};

void recycler_init(struct recycler *recycler);

/*
 * First step of a take: waits until every program that was running has ended, if anything depends
 * on it.
 */
int recycler_wait(struct recycler *recycler, struct error *err);

/* Then, before counters are read: frees the retired pages, or puts them back. */
void recycler_settle(struct recycler *recycler, const struct recycled *recycled);

/* Adds the windows that were removed from the table to those in it. */
int recycler_add(const struct recycler *recycler, struct seen *seen, struct error *err);

/* What has a window: spaces, and the cgroups of a split. */
struct uses {
	struct space *list;
	size_t nr;
};

int uses_find(const struct seen *seen, enum split split, struct uses *result, struct error *err);
void uses_free(struct uses *uses);

/*
 * Call once in each take for everything that was announced; true if it is to be forgotten. The
 * caller keeps *struck, which is false at first.
 */
bool recycler_forgets(struct recycler *recycler, const struct recycled *recycled,
		      const struct uses *uses, const struct space *space, enum told told,
		      bool *struck);

/*
 * Last step of a take, with the windows it saw: frees what was retired before and retires what was
 * idle, or all. What fails for lack of memory is left to the next take.
 */
void recycler_turn(struct recycler *recycler, const struct recycled *recycled,
		   const struct seen *seen, bool all);

void recycler_free(struct recycler *recycler);

#endif
