/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PENDING_H
#define BPFPROFIL_PENDING_H

#include "agent/http.h"
#include "agent/spool.h"
#include "base/error.h"
#include "profile/profile.h"

/*
 * Compressed profiles that wait for a backend, oldest first. With a spool they are on disk, and in
 * memory only if the disk is full.
 *
 * If their bytes reach the cap, the oldest profiles are merged: first neighbours that together
 * cover less than ten minutes, then less than an hour, then any. The sum of two profiles of a host
 * is hardly larger than one of them. Merging loses no tick, only the exact time of some.
 *
 * A profile that was delivered in part is never merged, because its rest could not be separated
 * from the sum.
 */
struct pending_part {
	struct bytes bytes; /* empty: it is in the spool */
	struct spool_entry entry; /* first 0: not for a spool */
	struct delivered done; /* in force; entry.done is the state on disk */
	bool unmergeable; /* cannot be merged with the next one */
	uint64_t unread_ns; /* since when it is unreadable, by monotonic_ns(); 0: readable */
};

/*
 * Whether an error will pass: this host is short of descriptors or memory. What waits can still be
 * read later.
 */
bool pending_may_pass(int error);

struct pending {
	struct pending_part *parts;
	size_t nr;
	size_t room;
	size_t bytes; /* in memory */
	size_t cap;
	struct spool *spool; /* NULL: none */
	size_t spooled; /* bytes */
	size_t spool_cap;
	bool spool_failed; /* the last write failed, */
	struct error spool_trouble; /* for this reason */
	uint64_t ticks;
	uint64_t lost; /* ticks that found no memory, or could not be merged */
	uint64_t merged; /* number of merges */
};

/*
 * The caller keeps the profile. After a failure, lost ticks are in `lost`, and err says which ones.
 */
int pending_add(struct pending *pending, const struct profile *profile, struct error *err);

/*
 * Removes the oldest (newest) part, which must exist, and returns it. The caller owns it until it
 * is put back or freed. If it cannot be read, putting it back moves it behind the others.
 */
struct pending_part pending_pop(struct pending *pending);
struct pending_part pending_pop_newest(struct pending *pending);
int pending_put_back(struct pending *pending, struct pending_part *part);

/* Ticks of the part that were not delivered yet. */
uint64_t pending_ticks(const struct pending_part *part);

/* Records, on disk too, what the backend has accepted of such a part. */
void pending_advance(struct pending *pending, struct pending_part *part,
		     const struct delivered *done);

/* Frees such a part, and removes it from disk. */
void pending_drop(struct pending *pending, struct pending_part *part);

/*
 * Does the same for one that cannot be read. Its file is renamed to NAME.bad, so that somebody may
 * still repair it.
 */
void pending_set_aside(struct pending *pending, struct pending_part *part);

/* Unpacks the profile; the caller frees *result. Returns 0 or a negative errno. */
int pending_read(const struct pending *pending, const struct pending_part *part,
		 struct profile **result, struct error *err);

/* Does the same for the sum of parts. */
int pending_sum(const struct pending *pending, const struct pending_part *parts, size_t nr,
		struct profile **result, struct error *err);

/* Adds the profiles that an earlier agent left in the spool, and moves those in memory there. */
int pending_load(struct pending *pending, struct error *err);

/* Adds the profiles in the folder of a sink that no longer exists. Call it after pending_load(). */
void pending_import(struct pending *pending, const char *folder);

/* Call before the agent ends: moves profiles from memory to the spool, if that has room. */
void pending_spool_all(struct pending *pending);

void pending_free(struct pending *pending);

#endif
