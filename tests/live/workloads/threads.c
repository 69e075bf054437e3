// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* threads N UNITS: N threads; in each alpha, beta and delta burn 5 : 3 : 2, UNITS in all. */
#include <pthread.h>
#include <stdio.h>

#include "spin.h"

#define MAX_THREADS 64

SPIN_FUNCTION(alpha)
SPIN_FUNCTION(beta)
SPIN_FUNCTION(delta)

static void *work(void *argument)
{
	unsigned long units = *(unsigned long *)argument, done;

	for (done = 0; done < units; done += SPIN_ROUND) {
		alpha(SPIN_ROUND / 10 * 5);
		beta(SPIN_ROUND / 10 * 3);
		delta(SPIN_ROUND / 10 * 2);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned long n = spin_argument(argc, argv, 1, 8), i, units;
	pthread_t thread[MAX_THREADS];

	if (!n || n > MAX_THREADS)
		return 2;
	units = spin_argument(argc, argv, 2, 8000) / n;
	for (i = 0; i < n; i++) {
		if (pthread_create(&thread[i], NULL, work, &units)) {
			perror("pthread_create");
			return 1;
		}
	}
	for (i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
