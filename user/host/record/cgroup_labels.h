/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CGROUP_LABELS_H
#define BPFPROFIL_CGROUP_LABELS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "host/engine/session.h"
#include "profile/profile.h"
#include "host/record/options.h"

/* Names of the containers and pods that a profile's cgroups belong to. */
struct cgroup_labels {
	struct container_names *names; /* NULL: the profile is not split by cgroup */
	size_t seen; /* number of cgroups at the last request to the runtimes */
};

/* If the profile is split by cgroup, starts to ask the runtimes. */
int cgroup_labels_begin(struct cgroup_labels *labels, const struct sampling_options *options,
			struct error *err);

/* Call after polling the session: asks again if there are new cgroups. */
void cgroup_labels_look(struct cgroup_labels *labels, const struct session *session);

/*
 * Adds labels to a profile of the session, which has none yet. last: waits briefly for missing
 * answers. -ENOMEM.
 */
int cgroup_labels_add(struct cgroup_labels *labels, struct profile *profile, bool last);

void cgroup_labels_end(struct cgroup_labels *labels);

#endif
