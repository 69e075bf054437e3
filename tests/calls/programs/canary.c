// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * canary ADDRESS SIZE MS [UID]: maps SIZE bytes at ADDRESS, where its predecessor had its buffer,
 * fills them, and uses MS milliseconds of CPU time. It fails if a byte has changed, if a call is
 * on, or if it does not run as UID.
 */
#define _GNU_SOURCE
#include <bpfprofil/profil.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int fail(const char *what)
{
	fprintf(stderr, "canary: %s\n", what);
	return 1;
}

/*
 * A set-uid program does not take the server's name from the environment, so it is not asked there.
 */
static int is_on(void)
{
	struct bpfprofil_status status;

	if (getauxval(AT_SECURE))
		return 0;
	return bpfprofil_status(&status, sizeof(status)) || status.on || status.total;
}

int main(int argc, char **argv)
{
	void *at = (void *)strtoul(argc > 1 ? argv[1] : "0", NULL, 0);
	size_t size = strtoul(argc > 2 ? argv[2] : "0", NULL, 0), i;
	double end = cpu_seconds() + atof(argc > 3 ? argv[3] : "0") / 1000;
	unsigned char *bytes;

	if (argc > 4 && geteuid() != (uid_t)atoi(argv[4]))
		return fail("not who it should be");
	bytes = mmap(at, size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (bytes != at)
		return fail("mmap");
	memset(bytes, 0x5a, size);
	while (cpu_seconds() < end)
		;
	for (i = 0; i < size; i++)
		if (bytes[i] != 0x5a)
			return fail("somebody has written here");
	return is_on() ? fail("profiling is on") : 0;
}
