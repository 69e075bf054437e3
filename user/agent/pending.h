/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PENDING_H
#define BPFPROFIL_PENDING_H

#include "agent/http.h"
#include "agent/spool.h"
#include "base/error.h"
#include "profile/profile.h"

/*
 * Compressed profiles that wait for a backend, oldest first. With a spool they are on disk, and in
 * memory only if the disk has no room. At the cap in bytes the oldest are added up: first neighbours
 * that together have less than ten minutes, then less than an hour, then any. This saves memory because
 * the sum of two profiles of a host is hardly larger than one of them, and it loses no tick, only the
 * exact time of some. A profile of which the backend has had a part is not added to another, because
 * what is left could not be told from the sum.
 */
struct pending_part {
	struct bytes bytes; /* empty: it is in the spool */
	struct spool_entry entry; /* first 0: without a spool */
	struct delivered done; /* what is true; entry.done is what the disk knows */
	bool apart; /* it does not add up with the next one */
	uint64_t unread_ns; /* since when it cannot be read, by monotonic_ns(); 0: it can */
};

/*
 * Whether an error is one of this host's that will pass: descriptors or memory are short. What waits is
 * then still to be had.
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
	uint64_t lost; /* ticks for which there was no memory, or that could not be added up */
	uint64_t merged; /* how often two profiles became one */
};

/*
 * The profile stays the caller's. After a failure the ticks that have no place are in `lost`, and err says
 * which they are.
 */
int pending_add(struct pending *pending, const struct profile *profile, struct error *err);

/*
 * Takes out the oldest (newest) one, which must exist. It belongs to the caller until it is put
 * back or freed. One that cannot be read goes behind the others.
 */
struct pending_part pending_take(struct pending *pending);
struct pending_part pending_take_newest(struct pending *pending);
int pending_put_back(struct pending *pending, struct pending_part *part);

/* How many ticks of it the backend has not had. */
uint64_t pending_ticks(const struct pending_part *part);

/* Notes, on the disk too, what the backend has had of a part that was taken out. */
void pending_advance(struct pending *pending, struct pending_part *part,
		     const struct delivered *done);

/* Removes a part that was taken out, from the disk too. */
void pending_drop(struct pending *pending, struct pending_part *part);

/* The same for one that cannot be read: its file is kept as NAME.bad, for whoever can. */
void pending_set_aside(struct pending *pending, struct pending_part *part);

/* Unpacks the profile; the caller frees *result. Returns 0 or a negative errno. */
int pending_read(const struct pending *pending, const struct pending_part *part,
		 struct profile **result, struct error *err);

/* Adds what an earlier agent left in the spool, and moves what waits in memory there. */
int pending_load(struct pending *pending, struct error *err);

/* The same of the folder of a sink that is no more; pending_load() must have come before. */
void pending_adopt(struct pending *pending, const char *folder);

/* Call before the agent ends: what is in memory goes to the spool, if that has room. */
void pending_settle(struct pending *pending);

void pending_free(struct pending *pending);

#endif
