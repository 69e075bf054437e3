/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_WALL_CLOCK_H
#define BPFPROFIL_WALL_CLOCK_H

#include <stdint.h>
#include <time.h>

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

#endif
