// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * clock N: reads the clock N million times, in the vdso if the kernel offers that: 6 of 10 times for first, and 4
 * for second.
 */
#include <time.h>

#include "spin.h"

#define NOT_LAST __asm__ volatile("" ::: "memory")
#define NOINLINE __attribute__((noinline, noclone))

void reads(unsigned long n);
NOINLINE void reads(unsigned long n)
{
	struct timespec now;

	while (n--)
		clock_gettime(CLOCK_MONOTONIC, &now);
}

#define CALLER(name)                                                                               \
	void name(unsigned long n);                                                                \
	NOINLINE void name(unsigned long n)                                                        \
	{                                                                                          \
		reads(n);                                                                          \
		NOT_LAST;                                                                          \
	}

CALLER(first)
CALLER(second)

int main(int argc, char **argv)
{
	unsigned long n, rounds = spin_argument(argc, argv, 1, 1) * 10 / spin_slowness;

	for (n = 0; n < rounds; n++) {
		first(60000);
		second(40000);
	}
	return 0;
}
