/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_CGROUP_H
#define TEST_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Cgroups that a test makes for itself, below the root of a hierarchy. */

/*
 * Where a hierarchy is mounted: version 2 for NULL, else the version 1 hierarchy with this
 * controller. False: it is not mounted.
 */
bool cgroup_mount(const char *controller, char *result, size_t size);

/* Makes a cgroup, or fails the test. path is a complete path, whose parent must exist. */
void cgroup_make(const char *path);

/* The kernel's id of the cgroup. */
uint64_t cgroup_number(const char *path);

void cgroup_enter(const char *path, pid_t pid);

/* Moves its processes, and those below it, to its parent, and removes all of it. */
void cgroup_remove(const char *path);

#endif
