/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_KUBELET_NAMES_H
#define BPFPROFIL_KUBELET_NAMES_H

#include <stdbool.h>

#include "target/cgroup_parts.h"

/* A name of Kubernetes is 253 characters at most, all of them letters, digits, - and dots. */
#define KUBELET_NAME_MAX 254

struct kubelet_names {
	char namespace[KUBELET_NAME_MAX];
	char pod[KUBELET_NAME_MAX];
	char container[KUBELET_NAME_MAX];
};

/*
 * Who is in a cgroup of Kubernetes, by the folders that kubelet keeps logs in: no server is asked.
 *
 *     LOGS/pods/NAMESPACE_POD_UID/CONTAINER/
 *     LOGS/containers/POD_NAMESPACE_CONTAINER-ID.log
 *
 * Of several containers of a pod only the second tells which one it is, shortly after it began. True:
 * all is known that these folders will ever say of it.
 */
bool kubelet_names_find(const char *logs, const struct cgroup_parts *parts,
			struct kubelet_names *ret);

#endif
