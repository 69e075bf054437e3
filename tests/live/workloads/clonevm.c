// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * clonevm N UNITS: N times, a child in the same memory, made by clone(CLONE_VM), burns beta while
 * the parent burns alpha: 3 * UNITS and 5 * UNITS. All on one CPU.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "onecpu.h"
#include "spin.h"

static char stack[65536] __attribute__((aligned(64)));

SPIN_FUNCTION(alpha)
SPIN_FUNCTION(beta)

static int child(void *units)
{
	beta(3 * *(unsigned long *)units);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned long n = spin_argument(argc, argv, 1, 1), i;
	unsigned long units = spin_argument(argc, argv, 2, 10);

	if (stay_on_one_cpu())
		return 1;
	for (i = 0; i < n; i++) {
		int status = 1;
		pid_t pid = clone(child, stack + sizeof(stack), CLONE_VM | SIGCHLD, &units);

		if (pid < 0)
			return 1;
		alpha(5 * units);
		if (waitpid(pid, &status, 0) != pid || status)
			return 1;
	}
	return 0;
}
