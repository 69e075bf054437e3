// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * maps FILE COUNT: runs COUNT processes of FILE's owner, one after the other, with anonymous text that
 * runs for some ticks, and with FILE, by a hard link, as their perf map.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "moved.h"

#define PAGE 4096UL
#define CPU_NS 20000000L

static int run(const char *file)
{
	struct timespec now = { 0 };
	volatile uint64_t x = 1;
	char map[64];
	void *text;

	snprintf(map, sizeof(map), "/tmp/perf-%d.map", getpid());
	unlink(map); /* An earlier process with our pid may have left it. */
	text = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (text == MAP_FAILED || link(file, map)) {
		perror(map);
		return 1;
	}
	memcpy(text, __start_moved, (size_t)(__stop_moved - __start_moved));
	mprotect(text, PAGE, PROT_READ | PROT_EXEC);
	while (!now.tv_sec && now.tv_nsec < CPU_NS) {
		x = ((work_fn *)text)(x, 10000);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	}
	(void)x;
	return unlink(map);
}

int main(int argc, char **argv)
{
	struct stat owned;
	int status = 0, i;

	if (argc != 3 || stat(argv[1], &owned) || setuid(owned.st_uid))
		return 1;
	for (i = 0; !status && i < atoi(argv[2]); i++) {
		if (!fork())
			_exit(run(argv[1]));
		wait(&status);
	}
	return status != 0;
}
