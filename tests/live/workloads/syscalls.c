// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * syscalls UNITS: alpha burns UNITS in user space; then ask_parent and read_zeros spend nearly all
 * their time in the kernel. Prints how many ns of CPU time each of the three took.
 */
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "rawcall.h"
#include "spin.h"

#define CALLS_PER_UNIT 800
#define READS_PER_UNIT 150

static char zeros[65536];

SPIN_FUNCTION(alpha)

__attribute__((noinline)) static void ask_parent(unsigned long units)
{
	unsigned long n;

	for (n = units * CALLS_PER_UNIT / spin_slowness; n; n--)
		rawcall(SYS_getppid, 0, 0, 0);
}

__attribute__((noinline)) static void read_zeros(int fd, unsigned long units)
{
	unsigned long n;

	/* A CPU that is slow because it is emulated is slowest at clearing memory. */
	for (n = units * READS_PER_UNIT / spin_slowness / spin_slowness; n; n--)
		rawcall(SYS_read, fd, (long)zeros, sizeof(zeros));
}

static long long cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char **argv)
{
	unsigned long units = spin_argument(argc, argv, 1, 1000);
	int fd = open("/dev/zero", O_RDONLY);
	long long t[4];

	if (fd < 0)
		return 1;
	t[0] = cpu_ns();
	alpha(units);
	t[1] = cpu_ns();
	ask_parent(units);
	t[2] = cpu_ns();
	read_zeros(fd, units);
	t[3] = cpu_ns();
	printf("%lld %lld %lld\n", t[1] - t[0], t[2] - t[1], t[3] - t[2]);
	close(fd);
	return 0;
}
