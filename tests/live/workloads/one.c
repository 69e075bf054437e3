// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* one [UNITS]: a single function with a loop of unequal instructions, for a histogram to show. */
#include "spin.h"

unsigned long collatz(unsigned long units);

__attribute__((noinline, aligned(64))) unsigned long collatz(unsigned long units)
{
	unsigned long n, x = 27, steps = 0, d = 7;

	for (n = units * SPIN_UNIT / 4; n; n--) {
		x = x & 1 ? 3 * x + 1 : x / 2;
		if (x == 1)
			x = 27 + (n & 1023);
		/*
		 * Hidden from the compiler, so that it stays a real division, the slowest
		 * instruction here.
		 */
		__asm__ volatile("" : "+r"(d));
		steps += x / d;
	}
	return steps;
}

int main(int argc, char **argv)
{
	return collatz(spin_argument(argc, argv, 1, 1000)) == 42;
}
