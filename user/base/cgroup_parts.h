/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CGROUP_PARTS_H
#define BPFPROFIL_CGROUP_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#define CONTAINER_ID_LENGTH 64
#define CONTAINER_ID_SHORT 12 /* the length that docker ps shows */

/*
 * The directories that container runtimes make for a container:
 *
 *     ID                             docker, containerd, Kubernetes with cgroupfs, ctr
 *     docker-ID.scope, libpod-ID.scope, crio-ID.scope, nerdctl-ID.scope, cri-containerd-ID.scope
 *     libpod-ID, crio-ID             podman and CRI-O with cgroupfs
 *     SLICE:cri-containerd:ID        containerd with cgroupfs under a kubelet with systemd
 *     lxc.payload.NAME               LXC, LXD, Incus
 *
 * and other directories with an id in their names, which are not containers:
 *
 *     libpod-conmon-ID.scope, crio-conmon-ID.scope     its monitor
 *     ID.service, ID-NUMBER.service, *-ID-*.mount      its health checks, its file systems
 */

/* The id, 64 hexadecimal digits, in the name of such a directory; NULL: it has none. */
const char *container_id_in(const char *directory);

/* The name in the name of such a directory; NULL: it has none. */
const char *container_name_in(const char *directory);

/* Whether the directory is that of the container with this id, in any of these forms. */
bool container_id_names(const char *id, const char *directory);

bool container_id_is_full(const char *id);

/* Whether text could be the prefix of an id. */
bool container_id_is_prefix(const char *text);

/* What is left of "docker://ID", as Kubernetes prints an id, without the runtime. */
const char *container_name_bare(const char *typed);

/* Whether runtimes would accept it as a name or an id. */
bool container_name_is_valid(const char *name);

#define POD_UID_LENGTH 36

/*
 * The kernel's programs read this much of a path from its end on, so what is above a path that has as
 * much is unknown.
 */
enum { CGROUP_PATH_BYTES = 1024, CGROUP_PATH_PARTS = 48 };

/*
 * What the path of a cgroup says about its processes; "" where it says nothing. A pod is one only below
 * kubelet's directories, and not where a user makes directories: anyone could take its uid, and with
 * that its names.
 */
struct cgroup_parts {
	char container[CONTAINER_ID_LENGTH + 1]; /* id of the innermost */
	char name[256]; /* of the outermost that has its name there, unless a user may have chosen it */
	char pod[POD_UID_LENGTH + 1]; /* its uid; for a static pod 32 digits */
	char unit[256]; /* the innermost */
	bool is_users; /* the container's id is one that a user may have chosen */
};

/* cgroup may be NULL, which says nothing. */
void cgroup_parts_find(const char *cgroup, struct cgroup_parts *result);

#endif
