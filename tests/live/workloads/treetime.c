// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * treetime FILE COMMAND...: runs COMMAND, waits for all its descendants, orphans too, and writes
 * to FILE the CPU time of all of them and its own, user + system, in nanoseconds. Ends as
 * COMMAND did. It is a part of the tree it measures, so that a profile of it is comparable.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned long long cpu_ns(int who)
{
	struct rusage usage;

	if (getrusage(who, &usage))
		return 0;
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000ULL +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000ULL;
}

static int shell_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	int status, result = 1;
	FILE *out;
	pid_t first, pid;

	if (argc < 3)
		return 2;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	out = fopen(argv[1], "we");
	if (!out)
		return 1;
	first = fork();
	if (!first) {
		execvp(argv[2], argv + 2);
		_exit(errno == ENOENT ? 127 : 126);
	}
	while ((pid = wait(&status)) > 0 || errno == EINTR) {
		if (pid == first)
			result = shell_status(status);
	}
	fprintf(out, "%llu\n", cpu_ns(RUSAGE_SELF) + cpu_ns(RUSAGE_CHILDREN));
	return fclose(out) ? 1 : result;
}
