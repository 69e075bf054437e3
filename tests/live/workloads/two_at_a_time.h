/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TWO_AT_A_TIME_H
#define TWO_AT_A_TIME_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * N processes, two at a time; each calls child, which does not return, and has another sequence of random() than
 * the others. Returns the exit status: 1 if one of them failed or could not be made.
 */
static inline int two_at_a_time(unsigned long n, void (*child)(void *), void *argument)
{
	unsigned long i, running = 0;
	int status, failed = 0;

	for (i = 0; i < n; i++) {
		pid_t pid = fork();

		random();
		if (pid < 0) {
			perror("fork");
			return 1;
		}
		if (!pid)
			child(argument);
		if (++running == 2 && wait(&status) > 0) {
			failed |= status;
			running--;
		}
	}
	while (wait(&status) > 0)
		failed |= status;
	return failed != 0;
}

#endif
