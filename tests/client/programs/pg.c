// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * Built with -pg: calls leaf() 1,000 times. `pg MS fork|forks|thread|off` does so for MS
 * milliseconds of CPU time in all, the second half in a child, in many short-lived children one
 * after the other, in a thread, or with counting switched off. At the end each process prints its
 * pid, its CPU time in seconds, how often it was given a CPU, and whether SIGPROF is untouched.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void moncontrol(int mode);

static volatile unsigned long sink;

__attribute__((noinline)) void leaf(void)
{
	int i;

	for (i = 0; i < 1000; i++)
		sink += (unsigned long)i;
}

static double cpu_seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

__attribute__((noinline)) void work(double seconds)
{
	double end = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + seconds;
	int i;

	do {
		for (i = 0; i < 1000; i++)
			leaf();
	} while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < end);
}

static void *work_in_thread(void *seconds)
{
	work(*(double *)seconds);
	return NULL;
}

static void say_time(void)
{
	struct sigaction profiler;
	struct rusage usage;

	sigaction(SIGPROF, NULL, &profiler);
	getrusage(RUSAGE_SELF, &usage);
	printf("%ld %.6f %ld %s\n", (long)getpid(), cpu_seconds(CLOCK_PROCESS_CPUTIME_ID),
	       usage.ru_nvcsw + usage.ru_nivcsw + 1,
	       profiler.sa_handler == SIG_DFL ? "quiet" : "signals");
	fflush(stdout);
}

/* At each fork ticks of the parent are on their way. The child returns here. */
static void work_in_children(double seconds)
{
	enum { CHILDREN = 25 };
	pid_t child = 1;
	int i;

	for (i = 0; child && i < CHILDREN; i++) {
		work(seconds / CHILDREN * 0.8);
		child = fork();
		if (child)
			waitpid(child, NULL, 0);
		else
			work(seconds / CHILDREN * 0.2);
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[2] : "";
	double half = argc > 1 ? atof(argv[1]) / 2000 : 0;
	pthread_t thread;

	work(half);
	if (!strcmp(how, "fork")) {
		pid_t child = fork();

		if (child)
			waitpid(child, NULL, 0);
		else
			work(half);
	} else if (!strcmp(how, "forks")) {
		work_in_children(half);
	} else if (!strcmp(how, "thread")) {
		pthread_create(&thread, NULL, work_in_thread, &half);
		pthread_join(thread, NULL);
	} else if (!strcmp(how, "off")) {
		moncontrol(0);
		work(half);
		moncontrol(1);
	}
	say_time();
	return 0;
}
