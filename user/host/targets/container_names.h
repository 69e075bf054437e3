/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CONTAINER_NAMES_H
#define BPFPROFIL_CONTAINER_NAMES_H

#include <stdbool.h>

#include "base/cgroup_parts.h"
#include "base/error.h"

/*
 * What the runtimes call the containers of cgroups. A thread of its own asks them, so that one that
 * does not answer delays nobody.
 */
struct container_names;

#define CONTAINER_NAME_MAX 256

enum container_asking {
	/* At once, and at most every two seconds; a name stays known when its container is gone. */
	CONTAINERS_FOR_A_WHILE,
	/*
	 * When container_names_ask() says so, and at most every minute. What the last answer has not
	 * is forgotten, because there is no end to containers. Those whose names are their ids take
	 * another command, and are not asked for.
	 */
	CONTAINERS_FOR_GOOD,
};

/* Begins to ask, or to wait for a question. */
int container_names_open(enum container_asking how, struct container_names **result,
			 struct error *err);

/* Asks again, soon but not often: there may be new containers. */
void container_names_ask(struct container_names *names);

/* How often all runtimes have answered so far. */
unsigned int container_names_answers(struct container_names *names);

/* Waits until all is answered, but no longer than this. */
void container_names_wait(struct container_names *names, unsigned int ms);

/*
 * What a runtime has answered, or else has in its files, which is known at once. False: no container is
 * known to have this cgroup, or one above it.
 */
bool container_names_find(struct container_names *names, const char *cgroup,
			  char result[CONTAINER_NAME_MAX]);

/*
 * What docker or podman, whose folders are below root, which is "" or a directory, wrote down of the
 * container with this id. False: nothing.
 */
bool container_files_find(const char *root, const char *id, char result[CONTAINER_NAME_MAX]);

/* Does not wait for a runtime that is being asked. NULL is fine. */
void container_names_close(struct container_names *names);

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
 * Only the second tells which container it is, shortly after it has begun; a pod's sandbox, which has
 * a cgroup too, has no log. Where there is no second folder at all, a pod's only container is it. True:
 * these folders will never say more about it.
 */
bool kubelet_names_find(const char *logs, const struct cgroup_parts *parts,
			struct kubelet_names *result);

#endif
