/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CONTAINER_ID_H
#define BPFPROFIL_CONTAINER_ID_H

#include <stdbool.h>
#include <stddef.h>

#define CONTAINER_ID_LENGTH 64
#define CONTAINER_ID_SHORT 12 /* what docker ps shows */

/*
 * The directories that container runtimes make for a container:
 *
 *     ID                             docker, containerd, Kubernetes with cgroupfs, ctr
 *     docker-ID.scope, libpod-ID.scope, crio-ID.scope, nerdctl-ID.scope, cri-containerd-ID.scope
 *     libpod-ID, crio-ID             podman and CRI-O with cgroupfs
 *     SLICE:cri-containerd:ID        containerd with cgroupfs under a kubelet with systemd
 *
 * and what they make beside it, which has an id in its name and is no container:
 *
 *     libpod-conmon-ID.scope, crio-conmon-ID.scope     its monitor
 *     ID.service, ID-NUMBER.service, *-ID-*.mount      its health checks, its file systems
 */

/* The id, of 64 hexadecimal digits, in the name of such a directory; NULL: it is none. */
const char *container_id_in(const char *directory);

/* The directory is that of the container with this id, of whatever form. */
bool container_id_names(const char *id, const char *directory);

bool container_id_is_full(const char *id);

/* Could be the beginning of an id. */
bool container_id_is_prefix(const char *text);

/* What runtimes accept as a name or an id. */
bool container_name_is_valid(const char *name);

#endif
