// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * treetime FILE COMMAND...: runs COMMAND, waits for all its descendants, including orphans, and
 * writes to FILE the CPU time (user + system) of all of them and itself, in nanoseconds, how often
 * they were given a CPU, and how much of the time was system time. Ends as COMMAND did. It is part of the tree that it measures, so
 * that a profile of it is comparable.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct account {
	unsigned long long cpu_ns;
	long turns;
	unsigned long long system_ns;
};

static void add_usage(struct account *account, int who)
{
	struct rusage usage;

	if (getrusage(who, &usage))
		return;
	account->cpu_ns += (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000ULL +
			   (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000ULL;
	account->system_ns +=
		usage.ru_stime.tv_sec * 1000000000ULL + usage.ru_stime.tv_usec * 1000ULL;
	account->turns += usage.ru_nvcsw + usage.ru_nivcsw;
}

static int shell_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	struct account account = { 0, 1, 0 };
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
	add_usage(&account, RUSAGE_SELF);
	add_usage(&account, RUSAGE_CHILDREN);
	fprintf(out, "%llu %ld %llu\n", account.cpu_ns, account.turns, account.system_ns);
	return fclose(out) ? 1 : result;
}
