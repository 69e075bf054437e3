// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * named UNITS: a thread burns in alpha and half-way names itself "first"; another burns in beta and
 * is half-way named "second" by the main thread, whose name is "main".
 *
 * named UNITS THREADS: so many threads, one after the other, name themselves "later" at once and burn
 * in alpha.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

#include "spin.h"

SPIN_FUNCTION(alpha)
SPIN_FUNCTION(beta)

static unsigned long units;
static sem_t half, named;

static void *first(void *ignored)
{
	(void)ignored;
	alpha(units / 2);
	pthread_setname_np(pthread_self(), "first");
	alpha(units / 2);
	return NULL;
}

static void *second(void *ignored)
{
	(void)ignored;
	beta(units / 2);
	sem_post(&half);
	sem_wait(&named);
	beta(units / 2);
	return NULL;
}

static void *later(void *ignored)
{
	(void)ignored;
	pthread_setname_np(pthread_self(), "later");
	alpha(units);
	return NULL;
}

static int one_by_one(unsigned long nr)
{
	pthread_t thread;

	for (; nr; nr--) {
		if (pthread_create(&thread, NULL, later, NULL))
			return 1;
		pthread_join(thread, NULL);
	}
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	units = spin_argument(argc, argv, 1, 1000);
	if (argc > 2)
		return one_by_one(strtoul(argv[2], NULL, 10));
	if (sem_init(&half, 0, 0) || sem_init(&named, 0, 0) ||
	    pthread_create(&threads[0], NULL, first, NULL) ||
	    pthread_create(&threads[1], NULL, second, NULL))
		return 1;
	pthread_setname_np(pthread_self(), "main");
	sem_wait(&half);
	pthread_setname_np(threads[1], "second");
	sem_post(&named);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
