/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_IDENTITY_H
#define BPFPROFIL_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/cgroup_parts.h"
#include "host/targets/container_names.h"

/*
 * Identifies a cgroup: by its path, by kubelet's folders, and by the container names of docker,
 * podman and nerdctl. Container names are unknown until the runtimes answer. Waiting for a name
 * always ends. To limit memory, cgroups that are absent from recent profiles are forgotten.
 */
struct cgroup_identity {
	struct cgroup_parts parts;
	struct kubelet_names names; /* outside Kubernetes only the container's */
	bool pod_known; /* its pod has all its names, or there is no pod, */
	bool complete; /* and so has its container */
};

struct identities;

/* logs: the folder of kubelet's logs, /var/log. Call identities_close() on *result in any case. */
int identities_open(const char *logs, struct identities **result, struct error *err);
void identities_close(struct identities *identities); /* NULL is fine */

/* Whether pods run here, but kubelet's folder of their names is missing. */
#define LOGS_OF_PODS "/var/log/pods"
bool identities_lack_logs(const struct identities *identities);

/*
 * Call it from one thread only; the result is valid until the next call. If there are too many
 * cgroups, or no memory, the identity of another one is complete at once.
 */
const struct cgroup_identity *identities_find(struct identities *identities, const char *cgroup);

/*
 * Readable when cgroups in pods must be looked up again: a container's name appears a moment after
 * it begins, and may be gone by the next profile.
 */
#define IDENTITIES_AGAIN_NS UINT64_C(1000000000) /* the first wait after a new cgroup */
int identities_fd(const struct identities *identities);
void identities_look_again(struct identities *identities);

/* How long after the first look kubelet may still name a cgroup; 10 s unless this is called. */
void identities_set_patience(struct identities *identities, uint64_t ns);

/* Call after each profile: forgets cgroups that were not needed for a while. */
void identities_end_interval(struct identities *identities);

#endif
