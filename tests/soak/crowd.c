// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * crowd MILLISECONDS
 *
 * A process whose threads do at the same time what makes it hard to tell which text a pc belongs
 * to: they make text writable and executable again, map and unmap, run children in the same address
 * space, start and end. It ends by an exec of one of them, by a signal, or by itself.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "moved.h"

#define TURNS 20000 /* some 45 us */
#define FLIPS 20
#define CHURN (4UL << 20)

static volatile bool over; /* never set */

static void burn(double ms)
{
	struct timespec t;
	volatile uint64_t x = 1;
	double end = 0, now;

	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		now = (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
		end = end > 0 ? end : now + ms;
		x = spin(x, TURNS);
	} while (now < end);
}

static void *map(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		_exit(1);
	return at;
}

static void *flip(void *unused)
{
	size_t size = (size_t)(__stop_moved - __start_moved);
	void *text;
	int i;

	(void)unused;
	while (!over) {
		text = map(size);
		memcpy(text, __start_moved, size);
		for (i = 0; i < FLIPS; i++) {
			mprotect(text, size, PROT_READ | PROT_EXEC);
			((work_fn *)text)(1, TURNS);
			mprotect(text, size, PROT_READ | PROT_WRITE);
		}
		munmap(text, size);
	}
	return NULL;
}

static void *churn(void *unused)
{
	char *at;

	(void)unused;
	while (!over) {
		at = map(CHURN);
		memset(at, 1, CHURN);
		munmap(at, CHURN);
	}
	return NULL;
}

/* Every second child becomes another program. */
static void *vforks(void *unused)
{
	volatile unsigned int turn = 0;
	pid_t pid;

	(void)unused;
	for (; !over; turn++) {
		pid = vfork();
		if (!pid) {
			burn(1.5);
			if (turn % 2)
				execl("/bin/true", "true", (char *)NULL);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	return NULL;
}

static void *brief(void *unused)
{
	burn(0.8);
	return unused;
}

static void *threads(void *unused)
{
	pthread_t thread;

	(void)unused;
	while (!over)
		if (!pthread_create(&thread, NULL, brief, NULL))
			pthread_join(thread, NULL);
	return NULL;
}

static void *becomes_another(void *ms)
{
	burn(*(double *)ms / 2);
	execl("/bin/true", "true", (char *)NULL);
	return NULL;
}

int main(int argc, char **argv)
{
	static void *(*const parts[])(void *) = { flip, flip, churn, vforks, vforks, threads };
	static double ms;
	struct timespec time;
	pthread_t thread;
	size_t i;

	if (argc != 2)
		return 2;
	ms = atof(argv[1]);
	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (pthread_create(&thread, NULL, parts[i], NULL))
			return 1;
	if (getpid() % 3 == 0 && pthread_create(&thread, NULL, becomes_another, &ms))
		return 1;
	time.tv_sec = (time_t)(ms / 1e3);
	time.tv_nsec = (long)(ms * 1e6) % 1000000000;
	nanosleep(&time, NULL);
	if (getpid() % 3 == 1)
		kill(getpid(), SIGKILL);
	_exit(0);
}
