/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CGROUP_PARTS_H
#define BPFPROFIL_CGROUP_PARTS_H

#include <stdbool.h>

#include "base/container_id.h"

#define POD_UID_LENGTH 36

/*
 * The kernel's programs read this much of a path from its end on, so what is above a path that has as
 * much is unknown.
 */
enum { CGROUP_PATH_BYTES = 1024, CGROUP_PATH_PARTS = 48 };

/*
 * What the path of a cgroup says about its processes; "" where it says nothing. A pod is one only below
 * kubelet's directories, and not where a user makes directories: anyone could take its uid, and with
 * that its names.
 */
struct cgroup_parts {
	char container[CONTAINER_ID_LENGTH + 1]; /* id of the innermost */
	char pod[POD_UID_LENGTH + 1]; /* its uid; for a static pod 32 digits */
	char unit[256]; /* the innermost */
	bool is_users; /* the container's id is one that a user may have chosen */
};

/* cgroup may be NULL, which says nothing. */
void cgroup_parts_find(const char *cgroup, struct cgroup_parts *result);

#endif
