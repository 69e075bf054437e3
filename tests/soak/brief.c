// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * brief file|jit|flips MILLISECONDS [PROCESSES [PAUSE]]
 *
 * A process, or so many of them at once, that lives for some ticks. It spends its CPU time in its
 * own text, or in a copy of it in anonymous memory, as a JIT does, which is a space that no other
 * process shares. With flips this copy is made writable and executable again all the time, as by a
 * JIT that is still compiling. With a pause it sleeps so many ms after each 45 us or so of work.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "moved.h"

#define TURNS 20000 /* some 45 us */
#define TURNS_PER_FLIP 100

static size_t moved_size(void)
{
	return (size_t)(__stop_moved - __start_moved);
}

static bool seal(void *at)
{
	return !mprotect(at, moved_size(), PROT_READ | PROT_EXEC);
}

static bool unseal(void *at)
{
	return !mprotect(at, moved_size(), PROT_READ | PROT_WRITE);
}

static work_fn *copy(void)
{
	void *at = mmap(NULL, moved_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);

	if (at == MAP_FAILED)
		return NULL;
	memcpy(at, __start_moved, moved_size());
	return seal(at) ? (work_fn *)at : NULL;
}

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* The parent goes on too. */
static void multiply(int processes)
{
	while (--processes > 0)
		if (!fork())
			return;
}

int main(int argc, char **argv)
{
	work_fn *work = spin;
	volatile uint64_t x = 1;
	unsigned int turn;

	if (argc < 3 || argc > 5)
		return 2;
	if (argc > 3)
		multiply(atoi(argv[3]));
	if (strcmp(argv[1], "file"))
		work = copy();
	if (!work)
		return 1;
	for (turn = 1; cpu_ms() < atof(argv[2]); turn++) {
		x = work(x, TURNS);
		if (!strcmp(argv[1], "flips") && turn % TURNS_PER_FLIP == 0)
			if (!unseal(work) || !seal(work))
				return 1;
		if (argc == 5)
			usleep(1000 * (useconds_t)atoi(argv[4]));
	}
	return 0;
}
