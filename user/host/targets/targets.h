/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TARGETS_H
#define BPFPROFIL_TARGETS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/nearest.h"
#include "host/targets/target.h"

/*
 * From what a user types to whose ticks are counted. Begin with {0}; add; finish; open a session
 * with list and controller; watch. All functions return 0 or a negative errno: -EINVAL if the text
 * is wrong, another one if the host does not have such a thing.
 */
struct targets {
	struct target *list;
	size_t nr;
	size_t capacity;
	/*
	 * The hierarchy of the cgroup targets. NULL: version 2, or there are no such targets;
	 * otherwise the version 1 hierarchy with this controller ("memory").
	 */
	char *controller;
	struct target_origin *origins; /* one for each element of list */
	size_t origins_capacity;
	struct cgroups *cgroups; /* of this host; read when first needed */
	struct target_watch *watch;
};

/*
 * Refuses a pid namespace other than the host's, for all targets but a command of our own: ticks have
 * pids of the host, which cannot be found from inside another, and the kernel walks over only the
 * namespace's threads, so that the CPU time of all others would be missing.
 */
int targets_check_namespace(const char *what, struct error *err);

/* PID[,PID...]; no_children: without their descendants. */
int targets_add_pids(struct targets *targets, const char *list, bool no_children,
		     struct error *err);

/*
 * Adds one target for all processes that run now and match the name, by the kernel's name for them
 * or by the last component of their first argument. It may be a pattern as in glob(7). We ourselves
 * and kernel threads never match.
 */
int targets_add_named(struct targets *targets, const char *pattern, bool no_children,
		      struct error *err);

/* "--name 'web*': webserver (12), webfeed (13)"; NULL for targets that were given one by one. */
const char *targets_chosen(const struct targets *targets, size_t i);

/* "--container 'web'", for messages. */
const char *targets_typed(const struct targets *targets, size_t i);

/* An absolute path of a directory in a mounted hierarchy, or a path below the mount. */
int targets_add_cgroup(struct targets *targets, const char *path, struct error *err);

/*
 * The name, the id, or a unique prefix of the id, of a container of docker, podman, containerd,
 * CRI-O...
 */
int targets_add_container(struct targets *targets, const char *name, struct error *err);

/* A unit of systemd; without a suffix it is a service. */
int targets_add_unit(struct targets *targets, const char *name, struct error *err);

int targets_add_all(struct targets *targets, struct error *err);

/*
 * Call after all are added: removes duplicates and finds one hierarchy that has all cgroup targets,
 * because BPF compares in one hierarchy.
 */
int targets_finish(struct targets *targets, struct error *err);

/*
 * Finds the hierarchy for --split cgroup without a cgroup target. *result is like
 * targets.controller; the caller frees it. -EOPNOTSUPP: there is none.
 */
int targets_split_hierarchy(char **result, struct error *err);

/*
 * *ret_fd, which stays the targets', becomes readable when a target may have ended; it is -1 if
 * none can end. A process ends with its last thread; a cgroup when it is removed; a container or
 * unit also when no process is left in it.
 */
int targets_watch(struct targets *targets, int *ret_fd, struct error *err);

/*
 * Call after the watch, and each time its descriptor is readable. Returns how many have not ended.
 */
size_t targets_left(struct targets *targets);

void targets_free(struct targets *targets);

enum proposal {
	PROPOSE_CGROUPS,
	PROPOSE_CONTAINERS,
	PROPOSE_UNITS,
	PROPOSE_NAMES,
	PROPOSE_PIDS /* each followed by a tab and the process's name */
};

/*
 * Lists what a target of this kind could be named now, in ascending order, each name once; free it
 * with names_free().
 */
int proposals_find(enum proposal kind, struct names *result, struct error *err);

#endif
