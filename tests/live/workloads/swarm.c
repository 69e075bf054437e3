// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * swarm N UNITS [COMMAND...]: N processes, two at a time; each burns UNITS in alpha, beta and
 * delta, 5 : 3 : 2, or executes COMMAND. Unless UNITS is 0, each first burns up to 1 ms in gap,
 * because processes of equal length may be in step with the sampler's clock, and then are no random
 * sample.
 */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spin.h"

SPIN_FUNCTION(alpha)
SPIN_FUNCTION(beta)
SPIN_FUNCTION(delta)
SPIN_FUNCTION(gap)

static void child(unsigned long units, char **command)
{
	if (units)
		gap((unsigned long)random() % 10);
	if (*command) {
		execv(*command, command);
		_exit(127);
	}
	alpha(units / 10 * 5);
	beta(units / 10 * 3);
	delta(units / 10 * 2);
	_exit(0);
}

int main(int argc, char **argv)
{
	unsigned long n = spin_argument(argc, argv, 1, 100), i, running = 0;
	unsigned long units = spin_argument(argc, argv, 2, 20);
	int status, failed = 0;

	for (i = 0; i < n; i++) {
		pid_t pid = fork();

		random();
		if (pid < 0) {
			perror("fork");
			return 1;
		}
		if (!pid)
			child(units, argv + (argc > 3 ? 3 : argc));
		if (++running == 2 && wait(&status) > 0) {
			failed |= status;
			running--;
		}
	}
	while (wait(&status) > 0)
		failed |= status;
	return failed != 0;
}
