// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * own MS [CHILDREN]: profiles its own text for MS milliseconds of CPU time, and so does each of its
 * children. Each fails if the counts are not what its account says, or are too few.
 */
#include <bpfprofil/profil.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { COUNTERS = 4096 };

static unsigned short counters[COUNTERS];
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

static unsigned long sum(void)
{
	unsigned long all = 0;
	int i;

	for (i = 0; i < COUNTERS; i++)
		all += counters[i];
	return all;
}

/* before is what the parent had in the buffer, and on the way to it. */
static int check(const char *who, double seconds, int is_child)
{
	int (*stop)(unsigned short *, size_t, size_t, unsigned int) = profil;
	struct bpfprofil_status status;

	if (stop(NULL, 0, 0, 0) || bpfprofil_status(&status, sizeof(status))) {
		perror(who);
		return 1;
	}
	if (status.binned < seconds * 200 || status.lost ||
	    (is_child ? sum() < status.binned : sum() != status.binned)) {
		fprintf(stderr, "%s: %lu in the buffer, binned %lu, lost %lu, total %lu\n", who,
			sum(), (unsigned long)status.binned, (unsigned long)status.lost,
			(unsigned long)status.total);
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct prof region = { counters, sizeof(counters), (size_t)burn & ~0xfffUL, 0x10000 };
	double seconds = atof(argc > 1 ? argv[1] : "100") / 1000;
	int children = atoi(argc > 2 ? argv[2] : "0"), status, bad = 0;

	if (sprofil(&region, 1, NULL, PROF_FAST)) {
		perror("sprofil");
		return 2;
	}
	burn(seconds);
	for (; children; children--) {
		if (!fork()) {
			burn(seconds);
			_exit(check("child", seconds, 1));
		}
		wait(&status);
		bad |= status != 0;
	}
	return check("parent", seconds, 0) | bad;
}
