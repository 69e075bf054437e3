/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TARGETS_H
#define BPFPROFIL_TARGETS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "target/target.h"

/*
 * From what a user types to whose ticks are counted. Begin with {0}; add; finish; open a session
 * with list and controller; watch. All return 0 or a negative errno: -EINVAL when it is the text
 * that is wrong and not the machine that has no such thing.
 */
struct targets {
	struct target *list;
	size_t nr;
	size_t capacity;
	/*
	 * The hierarchy that cgroup targets are in. NULL: version 2, or there is no such target;
	 * else that of version 1 with this controller ("memory").
	 */
	char *controller;
	struct target_origin *origins; /* one for each in list */
	size_t origins_capacity;
	struct cgroups *cgroups; /* of this host, once they are needed */
	struct target_watch *watch;
};

/* PID[,PID...]; no_children: without their descendants. */
int targets_add_pids(struct targets *targets, const char *list, bool no_children,
		     struct error *err);

/*
 * One target of all processes that run now and are named so, by the kernel's name of them or by the
 * last component of the first argument; a pattern as in glob(7). Not ourselves, nor the kernel's.
 */
int targets_add_named(struct targets *targets, const char *pattern, bool no_children,
		      struct error *err);

/* "--name 'web*': webserver (12), webfeed (13)"; NULL of targets that were named one by one. */
const char *targets_chosen(const struct targets *targets, size_t i);

/* An absolute path of a directory in a mounted hierarchy, or a path under the mount. */
int targets_add_cgroup(struct targets *targets, const char *path, struct error *err);

/* The name, the id, or a unique beginning of the id, of docker, podman, containerd, CRI-O... */
int targets_add_container(struct targets *targets, const char *name, struct error *err);

/* A unit of systemd; without a suffix it is a service. */
int targets_add_unit(struct targets *targets, const char *name, struct error *err);

int targets_add_all(struct targets *targets, struct error *err);

/*
 * When all are added: nothing twice, and one hierarchy in which all cgroup targets are, for that
 * is where the kernel's side compares.
 */
int targets_finish(struct targets *targets, struct error *err);

/*
 * The hierarchy by which processes can be told apart here, for --split cgroup without a cgroup
 * target: as targets.controller, of which the caller frees *ret. -EOPNOTSUPP: there is none.
 */
int targets_split_hierarchy(char **ret, struct error *err);

/*
 * *ret_fd, which stays the targets', becomes readable when a target may have ended; -1 when none
 * ever does. A process ends when its last thread does; a cgroup when it is removed; a container
 * or unit also when nobody is left in it.
 */
int targets_watch(struct targets *targets, int *ret_fd, struct error *err);

/* After the watch, and each time its descriptor is readable: how many have not ended. */
size_t targets_left(struct targets *targets);

/* A target has ended, by what targets_left() found. */
bool targets_ended(const struct targets *targets, size_t i);

void targets_free(struct targets *targets);

#endif
