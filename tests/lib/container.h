/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_CONTAINER_H
#define TEST_CONTAINER_H

#include <sys/types.h>

#include "child.h"
#include "guard.h"

/*
 * A container that runc runs, with pid, mount, cgroup, ipc and uts namespaces of its own. Its root
 * is a directory of the test with the host's /usr in it, read-only, and /test with the programs
 * that it is given. A test that fails leaves nothing of it.
 */
struct container {
	char name[80]; /* unless the test fills it in: a unique one */
	char cgroup[200]; /* its path in each hierarchy; unless filled in: "/NAME" */
	char dir[64]; /* the bundle; its files are below rootfs */
	pid_t pid; /* of its first process, as the host has it */
	struct child runc;
	struct guard guard;
};

/*
 * Starts it with copies of programs, and returns when argv has been executed: with paths as they
 * are inside ("/test/one"). All but what the test has filled in is zero.
 */
void container_start(struct container *container, const char *const programs[],
		     const char *const argv[]);

/* Makes a cgroup in the container's, in each hierarchy that has one, and moves a process there. */
void container_divide(const struct container *container, const char *name, pid_t pid);

/* Kills all of it and waits until runc has removed it. Not needed before container_end(). */
void container_kill(struct container *container);

void container_end(struct container *container);

/* Removes the cgroup of this path, and those below, in each hierarchy. */
void container_remove_cgroups(const char *path);

#endif
