/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CGROUP_PARTS_H
#define BPFPROFIL_CGROUP_PARTS_H

#include "target/container_id.h"

#define POD_UID_LENGTH 36

/* What the path of a cgroup says of who is in it; "" where it does not. */
struct cgroup_parts {
	char container[CONTAINER_ID_LENGTH + 1]; /* the innermost's id */
	char pod[POD_UID_LENGTH + 1]; /* its uid; of a static pod 32 digits */
	char unit[256]; /* the innermost */
};

/* NULL is a path that says nothing. */
void cgroup_parts_find(const char *cgroup, struct cgroup_parts *ret);

#endif
