/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_IDENTITY_H
#define BPFPROFIL_IDENTITY_H

#include <stdbool.h>

#include "base/error.h"
#include "target/cgroup_parts.h"
#include "target/kubelet_names.h"

/*
 * Who is in a cgroup: what its path says, what kubelet's folders say, and what docker, podman and
 * nerdctl call a container. These are asked by a thread of its own, seldom, and what they have not said
 * yet is not known. Whatever the number of cgroups, memory has a limit: those that were not looked up
 * for some profiles are forgotten.
 */
struct cgroup_identity {
	struct cgroup_parts parts;
	struct kubelet_names names; /* the container's also where it is none of Kubernetes */
	bool complete; /* all is known that there will be */
};

struct identities;

/* logs: kubelet's, /var/log. identities_close() *ret in either case. */
int identities_open(const char *logs, struct identities **ret, struct error *err);
void identities_close(struct identities *identities); /* NULL is fine */

/* Valid until the next of these calls, which one thread makes. NULL: no memory. */
const struct cgroup_identity *identities_find(struct identities *identities, const char *cgroup);

/* After a profile: forgets. */
void identities_turn(struct identities *identities);

#endif
