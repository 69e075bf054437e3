/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFILE_HEAD_H
#define BPFPROFIL_PROFILE_HEAD_H

#include <stdint.h>
#include <time.h>

#include "profile/profile.h"

/*
 * The time of day, for what is timed by monotonic_ns(). That clock can be set by nobody and stands
 * still while the host is suspended, as sampling does; so the two differ by what is kept here, and
 * whoever has read it once only is wrong after either.
 */
struct wall_clock {
	int64_t real_ns; /* CLOCK_REALTIME less CLOCK_BOOTTIME: another one after it was set */
	int64_t asleep_ns; /* CLOCK_BOOTTIME less monotonic_ns(): more after a suspension */
};

/* What it says now. */
struct wall_clock wall_clock_read(void);

/* The time of day of at_ns, a time of monotonic_ns(), by this clock. */
struct timespec wall_clock_at(const struct wall_clock *clock, uint64_t at_ns);

/*
 * Brings the clock up to date and returns what it has been set by, and how long the host was
 * suspended, since then; 0 for what is no more than a second, which a leap second is too.
 */
struct wall_clock wall_clock_follow(struct wall_clock *clock, const struct wall_clock *now);

/* Fills in who made the profile, when and on which host. Returns 0 or -ENOMEM. */
int profile_fill_head(struct profile *profile, const struct timespec *started);

/* Sets when it began anew. Returns 0 or -ENOMEM. */
int profile_set_started(struct profile *profile, const struct timespec *started);

/* Notes what became of the clock while it was counted. Returns 0 or -ENOMEM. */
int profile_note_clock(struct profile *profile, const struct wall_clock *change);

/* Fills in how ticks were made; the profile keeps copies of the words. Returns 0 or -ENOMEM. */
int profile_fill_sampling(struct profile *profile, const char *source, const char *mode,
			  uint64_t period_ns, double requested_hz);

/*
 * Fills in how cgroups were told apart: controller is that of a version 1 hierarchy; NULL for
 * version 2. Returns 0 or -ENOMEM.
 */
int profile_fill_split(struct profile *profile, const char *split);
int profile_fill_hierarchy(struct profile *profile, const char *controller);

/* Fills in that only some CPUs were sampled, with a note about CPU time. Returns 0 or -ENOMEM. */
int profile_fill_cpus(struct profile *profile, const char *list);

/* Sets the total account to the sum of the targets', because each tick belongs to one of them. */
int profile_sum_targets(struct profile *profile);

#endif
