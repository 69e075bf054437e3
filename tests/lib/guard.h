/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_GUARD_H
#define TEST_GUARD_H

#include <sys/types.h>

/*
 * What a test leaves in the kernel outlives it: a cgroup, a container. A guard is a process that
 * waits for the test to end, by a failed assertion or a crash too, and cleans up after it.
 */
struct guard {
	pid_t pid;
	int fd;
};

/* clean() is called once, in another process, with a copy of what argument points to. */
void guard_begin(struct guard *guard, void (*clean)(void *argument), void *argument);

/* Has it done now, and waits. */
void guard_end(struct guard *guard);

#endif
