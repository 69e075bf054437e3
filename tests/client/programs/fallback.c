// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * A program that only knows libc's profil() and sprofil(): turns them on, each replacing the other,
 * and off, and prints what was running meanwhile: libc's timer, or nothing visible. Once it turns them off without a
 * descriptor for that.
 */
#include <stdio.h>
#include <sys/profil.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

static unsigned short counters[256];

static void tell(const char *when)
{
	struct itimerval timer;

	getitimer(ITIMER_PROF, &timer);
	printf("%s %s\n", when, timer.it_interval.tv_usec ? "timer" : "quiet");
}

static int off_without_descriptors(void)
{
	struct rlimit before, none = { 0 };
	int ret;

	getrlimit(RLIMIT_NOFILE, &before);
	none.rlim_max = before.rlim_max;
	setrlimit(RLIMIT_NOFILE, &none);
	ret = profil(NULL, 0, 0, 0);
	setrlimit(RLIMIT_NOFILE, &before);
	return ret;
}

int main(void)
{
	struct prof region = { counters, sizeof(counters), (size_t)main, 0x10000 };
	int bad = 0, i;

	for (i = 0; i < 2; i++) {
		bad |= profil(counters, sizeof(counters), (size_t)main, 0x10000);
		tell("profil");
		/* glibc's sprofil() frees its table twice if it is turned on a second time. */
		if (!i) {
			bad |= sprofil(&region, 1, NULL, PROF_USHORT);
			tell("sprofil");
			bad |= profil(counters, sizeof(counters), (size_t)main, 0x10000);
			tell("profil");
		}
		if (i)
			printf("starved %s\n", off_without_descriptors() ? "on" : "off");
		bad |= profil(NULL, 0, 0, 0);
		tell("off");
		bad |= profil(NULL, 0, 0, 0);
	}
	return bad != 0;
}
