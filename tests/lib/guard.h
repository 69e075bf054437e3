/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_GUARD_H
#define TEST_GUARD_H

#include <sys/types.h>

/*
 * Cleans up what a test leaves in the kernel, such as a cgroup or a container. A guard is a process
 * that waits until the test ends, even by a failed assertion or a crash, and then cleans up.
 */
struct guard {
	pid_t pid;
	int fd;
};

/* clean() is called once, in another process, with a copy of what argument points to. */
void guard_begin(struct guard *guard, void (*clean)(void *argument), void *argument);

/* Cleans up now, and waits for it. */
void guard_end(struct guard *guard);

#endif
