// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * movedwait PROCS N: N processes begin to sleep in code that nobody has seen before, each in a file of its own, and are
 * moved to another cgroup at once.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Calls nanosleep() with its first argument. */
#if defined(__x86_64__)
static const unsigned char sleep_code[] = {
	0xb8, 0x23, 0, 0, 0, /* mov $35, %eax */
	0x0f, 0x05, /* syscall */
	0xc3, /* ret */
};
#elif defined(__aarch64__)
static const unsigned int sleep_code[] = {
	0xd2800ca8, /* mov x8, #101 */
	0xd4000001, /* svc #0 */
	0xd65f03c0, /* ret */
};
#else
#error "movedwait has no code for this machine"
#endif

static int sleep_in_new_code(void)
{
	const struct timespec time = { .tv_nsec = 300000000 };
	int file = memfd_create("new", MFD_CLOEXEC);
	int (*code)(const struct timespec *time, void *left);

	if (write(file, sleep_code, sizeof(sleep_code)) != sizeof(sleep_code))
		return 1;
	code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
	return code == MAP_FAILED || code(&time, NULL);
}

static int move(const char *procs, pid_t pid)
{
	FILE *file = fopen(procs, "we");

	return !file || fprintf(file, "%d", pid) < 0 || fclose(file);
}

int main(int argc, char **argv)
{
	int i, nr = argc == 3 ? atoi(argv[2]) : 0;
	pid_t pid;

	for (i = 0; i < nr; i++) {
		pid = fork();
		if (!pid)
			_exit(sleep_in_new_code());
		usleep(10000);
		if (pid < 0 || move(argv[1], pid)) {
			perror(argv[1]);
			return 1;
		}
		waitpid(pid, NULL, 0);
	}
	return 0;
}
