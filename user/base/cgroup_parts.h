/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CGROUP_PARTS_H
#define BPFPROFIL_CGROUP_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#define CONTAINER_ID_LENGTH 64
#define CONTAINER_ID_SHORT 12 /* the length that docker ps shows */

/*
 * Container runtimes make these directories for a container:
 *
 *     ID                             docker, containerd, Kubernetes with cgroupfs, ctr
 *     docker-ID.scope, libpod-ID.scope, crio-ID.scope, nerdctl-ID.scope, cri-containerd-ID.scope
 *     libpod-ID, crio-ID             podman and CRI-O with cgroupfs
 *     SLICE:cri-containerd:ID        containerd with cgroupfs under a kubelet with systemd
 *     lxc.payload.NAME               LXC, LXD, Incus
 *
 * These also have an id in their names, but are not containers:
 *
 *     libpod-conmon-ID.scope, crio-conmon-ID.scope     its monitor
 *     ID.service, ID-NUMBER.service, *-ID-*.mount      its health checks, its file systems
 */

/* Returns the id, 64 hexadecimal digits, in the name of such a directory; NULL: it has none. */
const char *container_id_in(const char *directory);

/* Returns the container's name in the name of such a directory; NULL: it has none. */
const char *container_name_in(const char *directory);

/* Whether the directory belongs to the container with this id, in any of these forms. */
bool container_id_names(const char *id, const char *directory);

bool container_id_is_full(const char *id);

bool container_id_is_prefix(const char *text);

/* Returns the id in "docker://ID", as Kubernetes prints it. */
const char *container_name_bare(const char *typed);

/* Whether runtimes accept this as a name or id. */
bool container_name_is_valid(const char *name);

#define POD_UID_LENGTH 36

/*
 * The BPF programs read the last bytes of a path, up to this limit. If a path is as long as that,
 * its beginning is unknown.
 */
enum { CGROUP_PATH_BYTES = 1024, CGROUP_PATH_PARTS = 48 };

/*
 * The parts of a cgroup's path, or "". Pods are only found below kubelet's directories, and not
 * where users make directories: a user could claim a pod's uid, and thus its names.
 */
struct cgroup_parts {
	char container[CONTAINER_ID_LENGTH + 1]; /* id of the innermost container */
	char name[256]; /* of the outermost container with one, unless a user may have chosen it */
	char pod[POD_UID_LENGTH + 1]; /* its uid; for a static pod 32 digits */
	char unit[256]; /* the innermost */
	bool is_users; /* a user may have chosen the container's id */
};

/* cgroup may be NULL: all parts are "". */
void cgroup_parts_find(const char *cgroup, struct cgroup_parts *result);

#endif
