// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * bigexit N MIB: runs N children one after the other, each with MIB of touched memory that only its
 * exit frees, so that it spends much of its time in the kernel after exit().
 */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spin.h"

static void child(size_t bytes)
{
	char *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		_exit(1);
	madvise(memory, bytes, MADV_NOHUGEPAGE);
	memset(memory, 1, bytes);
	_exit(0);
}

int main(int argc, char **argv)
{
	unsigned long n = spin_argument(argc, argv, 1, 4), i;
	size_t bytes = spin_argument(argc, argv, 2, 64) << 20;

	for (i = 0; i < n; i++) {
		int status = 1;
		pid_t pid = fork();

		if (!pid)
			child(bytes);
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			return 1;
	}
	return 0;
}
