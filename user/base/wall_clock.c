// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "base/wall_clock.h"

#include <stdlib.h>

#include "base/util.h"

#define JITTER_NS 1000000

static int64_t read_clock(clockid_t clock)
{
	struct timespec now = { 0 };

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec;
}

/* The clocks are read one after the other; where that took long, as on a busy CPU, it is done again. */
struct wall_clock wall_clock_read(void)
{
	int64_t before, boot, real;
	unsigned int tries = 0;

	do {
		before = (int64_t)monotonic_ns();
		boot = read_clock(CLOCK_BOOTTIME);
		real = read_clock(CLOCK_REALTIME);
	} while ((int64_t)monotonic_ns() - before > JITTER_NS && ++tries < 10);
	return (struct wall_clock){ .real_ns = real - boot, .asleep_ns = boot - before };
}

struct timespec wall_clock_at(const struct wall_clock *clock, uint64_t at_ns)
{
	int64_t ns = (int64_t)at_ns + clock->asleep_ns + clock->real_ns;
	int64_t rest = (ns % SECOND_NS + SECOND_NS) % SECOND_NS;

	return (struct timespec){ .tv_sec = (ns - rest) / SECOND_NS, .tv_nsec = rest };
}

/*
 * What differs by less than two readings may is left as it was, so that a profile ends where the next
 * one begins, and has the second that its file is named by.
 */
static int64_t follow(int64_t *offset, int64_t now)
{
	int64_t change = now - *offset;

	if (llabs(change) <= JITTER_NS)
		return 0;
	*offset = now;
	return llabs(change) > SECOND_NS ? change : 0;
}

struct wall_clock wall_clock_follow(struct wall_clock *clock, const struct wall_clock *now)
{
	struct wall_clock change;

	change.real_ns = follow(&clock->real_ns, now->real_ns);
	change.asleep_ns = follow(&clock->asleep_ns, now->asleep_ns);
	return change;
}
