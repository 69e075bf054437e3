// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * vforker N UNITS: N times, alpha burns in the parent, beta in a vfork child in the parent's
 * memory, and delta in the image that the child then executes: 5 : 3 : 2, UNITS in all.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spin.h"

SPIN_FUNCTION(alpha)
SPIN_FUNCTION(beta)
SPIN_FUNCTION(delta)

/* One round. The copies are volatile because the child runs on this very frame. */
static int cycle(volatile unsigned long tenth, char **volatile leaf)
{
	int status = 0;
	pid_t pid;

	alpha(5 * tenth);
	pid = vfork();
	if (!pid) {
		beta(3 * tenth);
		execv("/proc/self/exe", leaf);
		_exit(127);
	}
	return pid < 0 || waitpid(pid, &status, 0) != pid || status;
}

int main(int argc, char **argv)
{
	unsigned long n = spin_argument(argc, argv, 1, 100), tenth;
	char text[32];
	char *leaf[] = { argv[0], (char *)"leaf", text, NULL };

	if (argc > 1 && !strcmp(argv[1], "leaf")) {
		delta(spin_argument(argc, argv, 2, 2));
		return 0;
	}
	if (!n)
		return 2;
	tenth = spin_argument(argc, argv, 2, 1000) / n / 10;
	snprintf(text, sizeof(text), "%lu", 2 * tenth);
	while (n--) {
		if (cycle(tenth, leaf))
			return 1;
	}
	return 0;
}
