// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * asleep: seven threads that sleep for ever, each in functions of its own.
 * asleep PLUGIN: sleeps for a second and a half in a library that it has just loaded.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#define CALLED __attribute__((noipa))

static int pause_for(time_t seconds)
{
	const struct timespec time = { seconds, 500000000 };

	return nanosleep(&time, NULL);
}

#ifdef IS_PLUGIN

int sleep_in_plugin(void);

CALLED int sleep_in_plugin(void)
{
	return pause_for(1) + 1;
}

#else

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int ends[2];

CALLED static int wait_for_lock(void)
{
	return pthread_mutex_lock(&lock) + 1;
}

CALLED static int wait_for_condition(void)
{
	pthread_mutex_lock(&other);
	return pthread_cond_wait(&never, &other) + 1;
}

CALLED static int wait_for_byte(void)
{
	char byte;

	return (int)read(ends[0], &byte, 1) + 1;
}

CALLED static int wait_for_time(void)
{
	return pause_for(100000) + 1;
}

/* Its frames take 24 KiB, in which nothing else is stored. */
CALLED static int wait_far_below(int depth)
{
	volatile char room[6000];

	room[0] = (char)depth;
	return (depth ? wait_far_below(depth - 1) : wait_for_byte()) + room[0];
}

CALLED static int wait_deep(void)
{
	return wait_far_below(3) + 1;
}

static void handle(int signal)
{
	(void)signal;
	wait_for_byte();
}

CALLED static int wait_in_handler(void)
{
	return raise(SIGUSR1) + 1;
}

static void *begin(void *function)
{
	return (void *)(long)((int (*)(void))function)();
}

int main(int argc, char **argv)
{
	static int (*const functions[])(
		void) = { wait_for_lock, wait_for_condition, wait_for_byte,
			  wait_for_time, wait_deep,	     wait_in_handler };
	pthread_t thread;
	size_t i;

	if (argc > 1) {
		void *plugin = dlopen(argv[1], RTLD_NOW);
		int (*rest)(void) = plugin ? (int (*)(void))dlsym(plugin, "sleep_in_plugin") : NULL;

		return !rest || !rest();
	}
	signal(SIGUSR1, handle);
	pthread_mutex_lock(&lock);
	if (pipe(ends))
		return 1;
	for (i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (pthread_create(&thread, NULL, begin, (void *)functions[i]))
			return 1;
	return wait_for_byte();
}

#endif
