// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * forktree UNITS: every process forks three children, two levels deep, and burns UNITS itself:
 * alpha in the root, beta in its children, delta in theirs, so 1 : 3 : 9. All on one CPU.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "onecpu.h"
#include "spin.h"

#define FAN_OUT 3
#define LEVELS 3

SPIN_FUNCTION(alpha)
SPIN_FUNCTION(beta)
SPIN_FUNCTION(delta)

static void (*const of_level[LEVELS])(unsigned long units) = { alpha, beta, delta };

static int grow(int level, unsigned long units)
{
	int i, status, failed = 0;

	for (i = 0; level + 1 < LEVELS && i < FAN_OUT; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (!pid)
			_exit(grow(level + 1, units));
	}
	of_level[level](units);
	while (wait(&status) > 0)
		failed |= status;
	return failed != 0;
}

int main(int argc, char **argv)
{
	if (stay_on_one_cpu())
		return 1;
	return grow(0, spin_argument(argc, argv, 1, 2000));
}
