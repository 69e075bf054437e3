// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * chain ROUNDS UNITS: burns WEIGHT * UNITS in FUNCTION, then executes NEXT, from the same folder,
 * in the same process. LAST of the ring decrements ROUNDS and ends at 0.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "spin.h"

#ifndef LAST
#define LAST 0
#endif

SPIN_FUNCTION(FUNCTION)

int main(int argc, char **argv)
{
	unsigned long rounds = spin_argument(argc, argv, 1, 1);
	unsigned long units = spin_argument(argc, argv, 2, 10);
	char self[PATH_MAX], left[32], *slash;
	ssize_t len;

	FUNCTION(WEIGHT * units);
	if (LAST && !--rounds)
		return 0;
	len = readlink("/proc/self/exe", self, sizeof(self) - sizeof(NEXT));
	if (len < 0)
		return 1;
	self[len] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return 1;
	memcpy(slash + 1, NEXT, sizeof(NEXT));
	snprintf(left, sizeof(left), "%lu", rounds);
	execl(self, NEXT, left, argc > 2 ? argv[2] : "10", (char *)NULL);
	perror(self);
	return 1;
}
