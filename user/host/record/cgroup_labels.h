/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CGROUP_LABELS_H
#define BPFPROFIL_CGROUP_LABELS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "host/engine/session.h"
#include "profile/profile.h"
#include "host/record/options.h"

/* What the containers and pods are called that the cgroups of a profile belong to. */
struct cgroup_labels {
	struct container_names *names; /* NULL: cgroups are not told apart */
	size_t seen; /* how many cgroups the session had announced when the runtimes were asked */
};

/* Begins to ask the runtimes, if cgroups are told apart. */
int cgroup_labels_begin(struct cgroup_labels *labels, const struct sampling_options *options,
			struct error *err);

/* Call after the session was polled: asks again if there are new cgroups. */
void cgroup_labels_look(struct cgroup_labels *labels, const struct session *session);

/*
 * Adds what is known to a profile of the session, which has no labels yet; last: waits for answers
 * that are still out, though not long. -ENOMEM.
 */
int cgroup_labels_add(struct cgroup_labels *labels, struct profile *profile, bool last);

void cgroup_labels_end(struct cgroup_labels *labels);

#endif
