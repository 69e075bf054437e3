/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef SPIN_H
#define SPIN_H

#include <stdlib.h>

/*
 * Work whose CPU time is known in advance: a chain of dependent multiplications that neither the
 * compiler nor an out-of-order core can shorten, so equal counts take equal time wherever the code
 * is. A unit is about a tenth of a millisecond; $SPIN_SLOWNESS is how many times slower than
 * today's the CPU is.
 */
static unsigned long spin_slowness = 1;

__attribute__((constructor)) static void spin_read_slowness(void)
{
	const char *text = getenv("SPIN_SLOWNESS");

	if (text)
		spin_slowness = strtoul(text, NULL, 10);
}

#define SPIN_UNIT (100000UL / spin_slowness)

/*
 * A round is long compared with a tick, and short compared with drifts of the clock, so both
 * average out.
 */
#define SPIN_ROUND 100UL

static inline __attribute__((always_inline)) void spin(unsigned long units)
{
	unsigned long x = 1, n;

	for (n = units * SPIN_UNIT; n; n--) {
		x = x * 0x5851f42dUL + n;
		__asm__ volatile("" : "+r"(x));
	}
}

/* The name inside keeps gcc from merging functions with equal code. */
#define SPIN_FUNCTION(name)                                                                        \
	void name(unsigned long units);                                                            \
	__attribute__((noinline, aligned(64))) void name(unsigned long units)                      \
	{                                                                                          \
		__asm__ volatile("/* " #name " */");                                               \
		spin(units);                                                                       \
	}

/* The work that a program is asked for: argument number i, or the default. */
static inline unsigned long spin_argument(int argc, char **argv, int i, unsigned long otherwise)
{
	return i < argc ? strtoul(argv[i], NULL, 10) : otherwise;
}

#endif
