// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * resters N UNITS RUNS: N processes, two at a time; each burns UNITS in so many runs on a CPU, with a short
 * sleep between them. UNITS vary by up to as many, because processes of equal length may be in step with the
 * sampler's clock.
 */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spin.h"

enum { SLEEP_US = 20 };

static void child(unsigned long units, unsigned long runs)
{
	unsigned long i;

	for (i = 0; i < runs; i++) {
		spin(units / runs);
		usleep(SLEEP_US);
	}
	spin((unsigned long)random() % units);
	_exit(0);
}

int main(int argc, char **argv)
{
	unsigned long n = spin_argument(argc, argv, 1, 100), i, running = 0;
	unsigned long units = spin_argument(argc, argv, 2, 20),
		      runs = spin_argument(argc, argv, 3, 2);
	int status, failed = 0;

	for (i = 0; i < n; i++) {
		pid_t pid = fork();

		random();
		if (pid < 0) {
			perror("fork");
			return 1;
		}
		if (!pid)
			child(units, runs);
		if (++running == 2 && wait(&status) > 0) {
			failed |= status;
			running--;
		}
	}
	while (wait(&status) > 0)
		failed |= status;
	return failed != 0;
}
