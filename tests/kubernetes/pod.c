// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The one program of the pods in `make check-kubernetes`, static, in an image of its own:
 *
 *     pod                      waits for a signal, as a sandbox does
 *     pod MILLISECONDS...      takes so much CPU time, one after the other with half a second between
 *                              them, and ends; an "x" after the last begins anew until SIGTERM
 *
 * At its end it writes what its control group has taken into $OUT/$NAMESPACE_$POD_$CONTAINER.stat,
 * because a group that has ended cannot be asked any more.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t told;

static void note(int signal)
{
	(void)signal;
	told = 1;
}

static void reap(int signal)
{
	(void)signal;
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

/* The function that profiles name. */
__attribute__((noinline)) void pod_burn(long microseconds)
{
	struct timespec now;
	long end;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	end = now.tv_sec * 1000000 + now.tv_nsec / 1000 + microseconds;
	while (now.tv_sec * 1000000 + now.tv_nsec / 1000 < end && !told) {
		for (volatile int i = 0; i < 100000; i++)
			;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	}
}

/* Its two callers, by which flame graphs are checked: three quarters of the time are the first one's. */
__attribute__((noinline)) void pod_read(long milliseconds)
{
	pod_burn(milliseconds * 750);
	__asm__ volatile(""); /* no jump in place of the call */
}

__attribute__((noinline)) void pod_write(long milliseconds)
{
	pod_burn(milliseconds * 250);
	__asm__ volatile("");
}

__attribute__((noinline)) void pod_serve(long milliseconds)
{
	pod_read(milliseconds);
	pod_write(milliseconds);
	__asm__ volatile("");
}

/*
 * Version 2's line of /proc/self/cgroup. Pods have the host's hierarchy at $CGROUP, and where their view
 * of it begins at themselves, it is the one that every container has.
 */
static FILE *own_stat(char group[4096])
{
	FILE *in = fopen("/proc/self/cgroup", "re");
	char line[4096], path[8300];
	FILE *stat = NULL;

	while (in && fgets(line, sizeof(line), in)) {
		if (strncmp(line, "0::", 3))
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(group, 4096, "%s", line + 3);
		snprintf(path, sizeof(path), "%s%s/cpu.stat",
			 group[1] ? getenv("CGROUP") : "/sys/fs/cgroup", group);
		stat = fopen(path, "re");
	}
	if (in)
		fclose(in);
	return stat;
}

static void last_words(void)
{
	char group[4096] = "", line[256], path[4096];
	FILE *stat = own_stat(group);
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s_%s_%s.stat", getenv("OUT"), getenv("NAMESPACE"),
		 getenv("POD"), getenv("CONTAINER"));
	out = fopen(path, "ae");
	if (!out || !stat || !fgets(line, sizeof(line), stat))
		exit(1);
	fprintf(out, "%s %s", group, line);
	fclose(out);
}

int main(int argc, char **argv)
{
	const int again = argc > 2 && !strcmp(argv[argc - 1], "x");

	signal(SIGTERM, note);
	signal(SIGINT, note);
	if (argc == 1) {
		signal(SIGCHLD, reap);
		while (!told)
			pause();
		return 0;
	}
	do {
		for (int i = 1; i < argc - again && !told; i++) {
			if (i > 1 || again)
				usleep(500000);
			pod_serve(atol(argv[i]));
		}
	} while (again && !told);
	last_words();
	return 0;
}
