/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_IDENTITY_H
#define BPFPROFIL_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/cgroup_parts.h"
#include "host/targets/container_names.h"

/*
 * Finds out who is in a cgroup: from its path, from kubelet's folders, and from what docker, podman and
 * nerdctl call a container, which is unknown until they have answered. No name is waited for for good.
 * Memory is limited: cgroups that the last profiles did not have are forgotten.
 */
struct cgroup_identity {
	struct cgroup_parts parts;
	struct kubelet_names names; /* outside Kubernetes only that of the container */
	bool pod_known; /* nothing more will become known of its pod, or it is in none, */
	bool complete; /* nor of its container */
};

struct identities;

/* logs: the folder of kubelet's logs, /var/log. Call identities_close() on *result in any case. */
int identities_open(const char *logs, struct identities **result, struct error *err);
void identities_close(struct identities *identities); /* NULL is fine */

/* Whether pods run here, and kubelet's folder of their names was not there for the last one. */
#define LOGS_OF_PODS "/var/log/pods"
bool identities_lack_logs(const struct identities *identities);

/*
 * Only one thread may call this; what it returns is valid until the next call. If there are too many
 * cgroups, or there is no memory, a further one's identity is complete at once.
 */
const struct cgroup_identity *identities_find(struct identities *identities, const char *cgroup);

/*
 * Readable when there are cgroups in pods to look up again: a container's name is known a moment after it
 * has begun, and may be gone when the next profile is made.
 */
#define IDENTITIES_AGAIN_NS UINT64_C(1000000000) /* for the first time after it was met */
int identities_fd(const struct identities *identities);
void identities_look_again(struct identities *identities);

/* How long after a cgroup was first looked up kubelet may name it; 10 s unless this is called. */
void identities_set_patience(struct identities *identities, uint64_t ns);

/* Call after each profile: forgets cgroups that were not looked up for a while. */
void identities_turn(struct identities *identities);

#endif
