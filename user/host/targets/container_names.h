/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CONTAINER_NAMES_H
#define BPFPROFIL_CONTAINER_NAMES_H

#include <stdbool.h>

#include "base/cgroup_parts.h"
#include "base/error.h"

/*
 * The runtimes' names for containers of cgroups. A separate thread asks the runtimes, so that one
 * that hangs delays nobody.
 */
struct container_names;

#define CONTAINER_NAME_MAX 256

enum container_asking {
	/*
	 * Asks at once, and at most every two seconds. A name is kept after its container is gone.
	 */
	CONTAINERS_FOR_A_WHILE,
	/*
	 * Asks after container_names_ask(), and at most every minute. Names that the last answer
	 * lacks are forgotten, because there is no limit to containers. Containers whose names are
	 * their ids need another command, and are skipped.
	 */
	CONTAINERS_FOR_GOOD,
};

/* Starts to ask, or to wait for a request. */
int container_names_open(enum container_asking how, struct container_names **result,
			 struct error *err);

/* Asks again, soon but not often, because there may be new containers. */
void container_names_ask(struct container_names *names);

/* How often all runtimes have answered. */
unsigned int container_names_answers(struct container_names *names);

/* Waits until all requests are answered, but not longer than this. */
void container_names_wait(struct container_names *names, unsigned int ms);

/*
 * Finds a name from a runtime, or else in its files, which is known at once. False: no container is
 * known for this cgroup, or for one above it.
 */
bool container_names_find(struct container_names *names, const char *cgroup,
			  char result[CONTAINER_NAME_MAX]);

/*
 * Finds the name that docker or podman wrote for the container with this id. Their folders are
 * below root: "" or a directory. False: there is none.
 */
bool container_files_find(const char *root, const char *id, char result[CONTAINER_NAME_MAX]);

/* Does not wait for a runtime. NULL is fine. */
void container_names_close(struct container_names *names);

/* A Kubernetes name has at most 253 characters: letters, digits, - and dots. */
#define KUBELET_NAME_MAX 254

struct kubelet_names {
	char namespace[KUBELET_NAME_MAX];
	char pod[KUBELET_NAME_MAX];
	char container[KUBELET_NAME_MAX];
};

/*
 * Finds the names of a Kubernetes cgroup in the folders where kubelet keeps logs, without a request
 * to a server:
 *
 *     LOGS/pods/NAMESPACE_POD_UID/CONTAINER/
 *     LOGS/containers/POD_NAMESPACE_CONTAINER-ID.log
 *
 * Only the second identifies the container, shortly after it has begun. A pod's sandbox, which also
 * has a cgroup, has no log. If the second folder does not exist at all, a pod's only container is
 * used. True: these folders will have no more names.
 */
bool kubelet_names_find(const char *logs, const struct cgroup_parts *parts,
			struct kubelet_names *result);

#endif
