/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_KUBELET_NAMES_H
#define BPFPROFIL_KUBELET_NAMES_H

#include <stdbool.h>

#include "base/cgroup_parts.h"

/* A Kubernetes name has at most 253 characters: letters, digits, - and dots. */
#define KUBELET_NAME_MAX 254

struct kubelet_names {
	char namespace[KUBELET_NAME_MAX];
	char pod[KUBELET_NAME_MAX];
	char container[KUBELET_NAME_MAX];
};

/*
 * Finds what is in a Kubernetes cgroup from the folders in which kubelet keeps logs, so that no
 * server is asked:
 *
 *     LOGS/pods/NAMESPACE_POD_UID/CONTAINER/
 *     LOGS/containers/POD_NAMESPACE_CONTAINER-ID.log
 *
 * If a pod has several containers, only the second tells which one it is, shortly after it has
 * begun. True: these folders will never say more about it.
 */
bool kubelet_names_find(const char *logs, const struct cgroup_parts *parts,
			struct kubelet_names *result);

#endif
