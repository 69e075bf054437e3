// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * mapped OFFSET COUNT FILE...: calls the function at OFFSET of each FILE with COUNT. The file is
 * mapped as a loader would do it, but without reading its headers. It ends with its parent.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define PAGE 4096UL

typedef unsigned long (*burn)(unsigned long n);

static int run(const char *path, unsigned long offset, unsigned long count)
{
	unsigned long start = offset / PAGE * PAGE;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text;

	text = mmap(NULL, 2 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, (off_t)start);
	if (fd < 0 || text == MAP_FAILED) {
		perror(path);
		return 1;
	}
	((burn)(void *)(text + (offset - start)))(count);
	return 0;
}

int main(int argc, char **argv)
{
	int i, failed = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (i = 3; i < argc && !failed; i++)
		failed = run(argv[i], strtoul(argv[1], NULL, 0), strtoul(argv[2], NULL, 0));
	/* The mappings stay until the end, as a library's do. */
	return failed;
}
