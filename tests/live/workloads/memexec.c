// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* memexec FILE [ARGUMENT...]: executes a copy of FILE that exists only in memory. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct stat st;
	int from, to;

	if (argc < 2)
		return 2;
	from = open(argv[1], O_RDONLY | O_CLOEXEC);
	to = memfd_create("hidden", MFD_CLOEXEC);
	if (from < 0 || to < 0 || fstat(from, &st) ||
	    sendfile(to, from, NULL, st.st_size) != st.st_size) {
		perror(argv[1]);
		return 1;
	}
	fexecve(to, argv + 1, environ);
	perror("fexecve");
	return 1;
}
