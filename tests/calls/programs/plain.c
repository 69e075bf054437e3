// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * plain MS EXIT: a program that only knows libc's profil(). It profiles its own text for MS
 * milliseconds of CPU time and prints how many counts there are, whether SIGPROF is untouched, its
 * uid, and what LD_PRELOAD it was given besides ours. It exits with EXIT.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/profil.h>
#include <time.h>
#include <unistd.h>

static unsigned short counters[8192];
static volatile unsigned long sink;

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

__attribute__((noinline)) static void burn(double seconds)
{
	double end = cpu_seconds() + seconds;
	int i;

	do {
		for (i = 0; i < 100000; i++)
			sink += (unsigned long)i;
	} while (cpu_seconds() < end);
}

int main(int argc, char **argv)
{
	const char *preload = getenv("LD_PRELOAD");
	struct sigaction action;
	unsigned long all = 0;
	size_t i;

	if (profil(counters, sizeof(counters), (size_t)burn & ~0xfffUL, 0x10000))
		return 99;
	burn(atof(argc > 1 ? argv[1] : "300") / 1000);
	sigaction(SIGPROF, NULL, &action);
	profil(NULL, 0, 0, 0);
	for (i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		all += counters[i];
	printf("%lu %s %u %s\n", all, action.sa_handler == SIG_DFL ? "quiet" : "signals",
	       (unsigned int)getuid(), preload ? preload : "");
	return atoi(argc > 2 ? argv[2] : "0");
}
