/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PENDING_H
#define BPFPROFIL_PENDING_H

#include "agent/gzip.h"
#include "base/error.h"
#include "profile/profile.h"

/*
 * Profiles that wait for a backend, oldest first, compressed. At the cap in bytes the oldest are added
 * up: those of less than ten minutes together first, then of less than an hour, then whatever there
 * is. No tick is lost of it, only when exactly it was; a host's sum is hardly larger than a part.
 */
struct pending_part {
	struct bytes bytes;
	uint64_t ticks;
	uint64_t duration_ns;
};

struct pending {
	struct pending_part *parts;
	size_t nr;
	size_t room;
	size_t bytes;
	size_t cap;
	uint64_t ticks;
	uint64_t lost; /* ticks that no memory was for, or that could not be added up */
	uint64_t merged; /* times that two became one */
};

/* The profile stays the caller's. Failed, something is in lost. */
int pending_add(struct pending *pending, const struct profile *profile, struct error *err);

/* Takes out the oldest; there is one. It is the caller's, until it is put back or freed. */
struct pending_part pending_take(struct pending *pending);
struct pending_part pending_take_newest(struct pending *pending);
int pending_put_back(struct pending *pending, struct pending_part *part);

/* What it holds; the caller frees *ret. */
int pending_read(const struct pending_part *part, struct profile **ret, struct error *err);

void pending_free(struct pending *pending);

#endif
