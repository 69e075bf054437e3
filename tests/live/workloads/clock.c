// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* clock N: reads the clock N million times, in the vdso if the kernel offers that. */
#include <time.h>

#include "spin.h"

int main(int argc, char **argv)
{
	unsigned long n = spin_argument(argc, argv, 1, 1) * 1000000 / spin_slowness;
	struct timespec now;

	while (n--)
		clock_gettime(CLOCK_MONOTONIC, &now);
	return 0;
}
