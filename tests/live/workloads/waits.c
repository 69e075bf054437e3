// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * waits [MS]: threads that wait in a known way for MS milliseconds, and prints for each one
 *
 *     NAME CLASS INNER OUTER WAITED
 *
 * INNER is the thread's time by its own clock, OUTER that from before its creation until after its end, and WAITED the
 * time around its waiting calls, all in nanoseconds. For "spins" WAITED is the time for which it was ready without a
 * CPU, by the kernel (/proc/thread-self/schedstat).
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SPINNERS = 8, MS = 1000000 };

static long wait_ns = 200L * MS;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];

static uint64_t now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return (uint64_t)at.tv_sec * 1000000000 + (uint64_t)at.tv_nsec;
}

static void rest(long ns)
{
	const struct timespec time = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	nanosleep(&time, NULL);
}

static uint64_t sleeps(void)
{
	uint64_t begun = now();
	int i;

	for (i = 0; i < 4; i++)
		rest(wait_ns / 4);
	return now() - begun;
}

static uint64_t locks(void)
{
	uint64_t begun = now();

	pthread_mutex_lock(&lock);
	begun = now() - begun;
	pthread_mutex_unlock(&lock);
	return begun;
}

static uint64_t reads(void)
{
	uint64_t begun = now();
	char byte;

	if (read(ends[0], &byte, 1) != 1)
		abort();
	return now() - begun;
}

static uint64_t conditions(void)
{
	pthread_mutex_t mine = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t never = PTHREAD_COND_INITIALIZER;
	struct timespec until;
	uint64_t begun;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += wait_ns;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&mine);
	begun = now();
	while (!pthread_cond_timedwait(&never, &mine, &until))
		;
	begun = now() - begun;
	pthread_mutex_unlock(&mine);
	return begun;
}

static uint64_t polls(void)
{
	struct epoll_event event;
	int fd = epoll_create1(0);
	uint64_t begun = now();

	epoll_wait(fd, &event, 1, (int)(wait_ns / MS));
	begun = now() - begun;
	close(fd);
	return begun;
}

static uint64_t children(void)
{
	pid_t child = fork();
	uint64_t begun;

	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "child");
		rest(wait_ns);
		_exit(0);
	}
	begun = now();
	waitpid(child, NULL, 0);
	return now() - begun;
}

static uint64_t spins(void)
{
	uint64_t until = now() + (uint64_t)wait_ns, ran, ready = 0;
	FILE *file;

	while (now() < until)
		;
	file = fopen("/proc/thread-self/schedstat", "r");
	if (!file || fscanf(file, "%lu %lu", &ran, &ready) != 2)
		abort();
	fclose(file);
	return ready;
}

struct thread {
	const char *name, *class;
	uint64_t (*wait)(void);
	pthread_t id;
	uint64_t begun, inner, outer, waited;
};

static void *run(void *argument)
{
	struct thread *thread = argument;
	uint64_t begun = now();

	prctl(PR_SET_NAME, thread->name);
	thread->waited = thread->wait();
	thread->inner = now() - begun;
	return NULL;
}

static void start(struct thread *thread)
{
	thread->begun = now();
	if (pthread_create(&thread->id, NULL, run, thread))
		abort();
}

static void finish(struct thread *thread)
{
	pthread_join(thread->id, NULL);
	thread->outer = now() - thread->begun;
	printf("%s %s %lu %lu %lu\n", thread->name, thread->class, thread->inner, thread->outer,
	       thread->waited);
}

/* It stops itself, and its parent lets it go on. */
static void stop_child(void)
{
	uint64_t begun = now(), stopped;
	pid_t child = fork();

	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "stops");
		stopped = now();
		raise(SIGSTOP);
		stopped = now() - stopped;
		printf("stops stopped %lu ", now() - begun);
		printf("%lu %lu\n", now() - begun, stopped);
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, NULL, WUNTRACED);
	rest(wait_ns);
	kill(child, SIGCONT);
	waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
	struct thread threads[] = {
		{ "sleeps", "clock_nanosleep", sleeps, 0, 0, 0, 0, 0 },
		{ "locks", "futex", locks, 0, 0, 0, 0, 0 },
		{ "reads", "read", reads, 0, 0, 0, 0, 0 },
		{ "conditions", "futex", conditions, 0, 0, 0, 0, 0 },
		{ "polls", "epoll_wait", polls, 0, 0, 0, 0, 0 },
		{ "parent", "wait4", children, 0, 0, 0, 0, 0 },
	};
	struct thread spinners[SPINNERS];
	size_t i;

	if (argc > 1)
		wait_ns = atol(argv[1]) * MS;
	if (pipe(ends))
		abort();
	pthread_mutex_lock(&lock);
	for (i = 0; i < sizeof(threads) / sizeof(*threads); i++)
		start(&threads[i]);
	rest(wait_ns);
	pthread_mutex_unlock(&lock);
	if (write(ends[1], "", 1) != 1)
		abort();
	for (i = 0; i < sizeof(threads) / sizeof(*threads); i++)
		finish(&threads[i]);
	fflush(stdout);
	stop_child();
	for (i = 0; i < SPINNERS; i++) {
		spinners[i] = (struct thread){ "spins", "runnable", spins, 0, 0, 0, 0, 0 };
		start(&spinners[i]);
	}
	for (i = 0; i < SPINNERS; i++)
		finish(&spinners[i]);
	return 0;
}
