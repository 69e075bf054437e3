/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFILE_HEAD_H
#define BPFPROFIL_PROFILE_HEAD_H

#include <stdint.h>
#include <time.h>

#include "profile/profile.h"

/*
 * The wall-clock time of monotonic_ns(). Nobody can set that clock, and it stops while the host is
 * suspended, as sampling does. This is the difference to the wall clock, which must be read again
 * after either event.
 */
struct wall_clock {
	int64_t real_ns; /* CLOCK_REALTIME - CLOCK_BOOTTIME: changes when the clock is set */
	int64_t asleep_ns; /* CLOCK_BOOTTIME - monotonic_ns(): grows while suspended */
};

struct wall_clock wall_clock_read(void);

/* The wall-clock time of at_ns, a time of monotonic_ns(). */
struct timespec wall_clock_at(const struct wall_clock *clock, uint64_t at_ns);

/*
 * Updates the clock. Returns by how much it was set, and how long the host was suspended since. Up
 * to a second, such as a leap second, counts as 0.
 */
struct wall_clock wall_clock_follow(struct wall_clock *clock, const struct wall_clock *now);

/* Fills in tool, start and host. Returns 0 or -ENOMEM. */
int profile_fill_head(struct profile *profile, const struct timespec *started);

/* Seconds since 1970 of an RFC 3339 time; 0: it is none. *fraction: the digits after its point. */
int64_t profile_seconds(const char *text, const char **fraction);

/* Compares two RFC 3339 times, like strcmp(). */
int profile_compare_times(const char *a, const char *b);

/* Replaces the start. Returns 0 or -ENOMEM. */
int profile_set_started(struct profile *profile, const struct timespec *started);

/* Adds notes on changes of the clock while counting. Returns 0 or -ENOMEM. */
int profile_note_clock(struct profile *profile, const struct wall_clock *change);

/* Fills in the source and period of ticks; copies the words. Returns 0 or -ENOMEM. */
int profile_fill_sampling(struct profile *profile, const char *source, const char *mode,
			  uint64_t period_ns, double requested_hz);

/*
 * Fills in the split, and the hierarchy of cgroups. controller: of version 1; NULL: version 2.
 * Returns 0 or -ENOMEM.
 */
int profile_fill_split(struct profile *profile, const char *split);
int profile_fill_hierarchy(struct profile *profile, const char *controller);

/* Fills in that only some CPUs were sampled, with a note on CPU time. Returns 0 or -ENOMEM. */
int profile_fill_cpus(struct profile *profile, const char *list);

/*
 * Sets the total account to the sum of the targets', because each tick belongs to one target. Calls
 * beside other targets do not count. -ENOMEM.
 */
int profile_sum_targets(struct profile *profile);

#endif
