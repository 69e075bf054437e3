/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CGROUP_NAMES_H
#define BPFPROFIL_CGROUP_NAMES_H

#include "profile/profile.h"

/*
 * What people call the cgroups of a profile: the container's name, in Kubernetes
 * namespace/pod/container, and what a cgroup below that is called. No two have the same name.
 */
struct cgroup_names;

struct cgroup_names *cgroup_names_new(const struct profile *profile); /* NULL: out of memory */
void cgroup_names_free(struct cgroup_names *names); /* NULL is fine */

/* NULL: it has no name but its path. Valid as long as names. */
const char *cgroup_names_find(const struct cgroup_names *names, const char *cgroup);

#endif
