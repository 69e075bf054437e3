/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_CGROUP_H
#define TEST_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Cgroups that a test makes for itself, under the root of a hierarchy. */

/*
 * Where a hierarchy is mounted: that of version 2, for NULL, or the one of version 1 with this
 * controller. False: nowhere.
 */
bool cgroup_mount(const char *controller, char *ret, size_t size);

/* Makes a cgroup and fails the test when it cannot. Path is whole; its parent must be there. */
void cgroup_make(const char *path);

/* What the kernel calls it. */
uint64_t cgroup_number(const char *path);

void cgroup_enter(const char *path, pid_t pid);

/* Puts whom it holds, and those below it, into its parent, and removes all. */
void cgroup_remove(const char *path);

#endif
