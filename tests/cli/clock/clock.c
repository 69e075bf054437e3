// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * A clock that tests can set, for who preloads this: CLOCK_FILE has the seconds by which it was set,
 * and those for which the host was suspended, and may change at any time.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void read_offsets(long *set, long *asleep)
{
	const char *path = getenv("CLOCK_FILE");
	FILE *file = path ? fopen(path, "re") : NULL;

	*set = *asleep = 0;
	if (!file)
		return;
	if (fscanf(file, "%ld %ld", set, asleep) != 2)
		abort();
	fclose(file);
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	static int (*real)(clockid_t clock, struct timespec * now);
	long set, asleep;
	int ret;

	if (!real)
		real = (__typeof__(real))dlsym(RTLD_NEXT, "clock_gettime");
	ret = real(clock, now);
	if (clock != CLOCK_REALTIME && clock != CLOCK_BOOTTIME)
		return ret;
	read_offsets(&set, &asleep);
	now->tv_sec += asleep + (clock == CLOCK_REALTIME ? set : 0);
	return ret;
}

time_t time(time_t *result)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (result)
		*result = now.tv_sec;
	return now.tv_sec;
}
