// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* elsewhere THREADS UNITS: here() burns UNITS in main; there() the same in a thread that enters cgroup.threads first. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "spin.h"

SPIN_FUNCTION(here)
SPIN_FUNCTION(there)

static const char *threads;
static unsigned long units;
static pthread_barrier_t moved;

static void *work(void *argument)
{
	FILE *file = fopen(threads, "we");

	if (!file || fprintf(file, "%d", gettid()) < 0 || fclose(file)) {
		perror(threads);
		exit(1);
	}
	pthread_barrier_wait(&moved);
	there(units);
	return argument;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc < 3)
		return 2;
	threads = argv[1];
	units = spin_argument(argc, argv, 2, 0);
	if (pthread_barrier_init(&moved, NULL, 2) || pthread_create(&thread, NULL, work, NULL))
		return 1;
	pthread_barrier_wait(&moved);
	here(units);
	return pthread_join(thread, NULL);
}
