/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_CONTAINER_H
#define TEST_CONTAINER_H

#include <sys/types.h>

#include "child.h"
#include "guard.h"

/*
 * A container that runc runs, with its own pid, mount, cgroup, ipc and uts namespaces. Its root is
 * a directory of the test with the host's /usr, read-only, and /test with the programs it is given.
 * A failed test leaves nothing of it behind.
 */
struct container {
	char name[80]; /* a unique name, unless the test fills it in */
	char cgroup[200]; /* its path in each hierarchy; "/NAME", unless filled in */
	char dir[64]; /* the bundle; its files are below rootfs */
	pid_t pid; /* of its first process, in the host's namespace */
	struct child runc;
	struct guard guard;
};

/*
 * Starts it with copies of programs, and returns when argv has been executed; paths are as inside
 * ("/test/one"). All that the test has not filled in must be zero.
 */
void container_start(struct container *container, const char *const programs[],
		     const char *const argv[]);

/*
 * Makes a cgroup inside the container's, in each hierarchy that has one, and moves a process there.
 */
void container_divide(const struct container *container, const char *name, pid_t pid);

/* Kills all of it and waits until runc has removed it. Optional before container_end(). */
void container_kill(struct container *container);

void container_end(struct container *container);

/* Removes the cgroup with this path, and those below it, in each hierarchy. */
void container_remove_cgroups(const char *path);

#endif
