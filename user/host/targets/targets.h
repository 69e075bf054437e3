/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TARGETS_H
#define BPFPROFIL_TARGETS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/nearest.h"
#include "host/targets/target.h"

/*
 * Turns the user's words into targets. Start with {0}; add; finish; open a session with list and
 * controller; watch. All functions return 0 or a negative errno: -EINVAL if the text is wrong,
 * another one if the host has no such target.
 */
struct targets {
	struct target *list;
	size_t nr;
	size_t capacity;
	/*
	 * The hierarchy of the cgroup targets. NULL: version 2, or there are none; else the version
	 * 1 hierarchy with this controller ("memory").
	 */
	char *controller;
	struct target_origin *origins; /* by element of list */
	size_t origins_capacity;
	struct cgroups *cgroups; /* of this host; read on first use */
	struct target_watch *watch;
};

/*
 * Refuses a pid namespace other than the host's, except for our own command. Ticks have the host's
 * pids, which are unknown in another namespace. The kernel only lists the namespace's threads.
 * Therefore the CPU time of all others would be missing.
 */
int targets_check_namespace(const char *what, struct error *err);

/* PID[,PID...]; no_children: without descendants. */
int targets_add_pids(struct targets *targets, const char *list, bool no_children,
		     struct error *err);

/*
 * Adds one target for all current processes whose name matches: the kernel's name, or the last
 * component of the first argument. It may be a pattern as in glob(7). We ourselves and kernel
 * threads never match.
 */
int targets_add_named(struct targets *targets, const char *pattern, bool no_children,
		      struct error *err);

/* "--name 'web*': webserver (12), webfeed (13)"; NULL: not by pattern. */
const char *targets_chosen(const struct targets *targets, size_t i);

/* "--container 'web'", for messages. */
const char *targets_typed(const struct targets *targets, size_t i);

/* An absolute path of a directory in a mounted hierarchy, or a path relative to the mount. */
int targets_add_cgroup(struct targets *targets, const char *path, struct error *err);

/*
 * The name, the id, or a unique prefix of the id, of a container of docker, podman, containerd,
 * CRI-O...
 */
int targets_add_container(struct targets *targets, const char *name, struct error *err);

/* A systemd unit; without a suffix, a service. */
int targets_add_unit(struct targets *targets, const char *name, struct error *err);

int targets_add_all(struct targets *targets, struct error *err);

/*
 * Call it after adding all: removes duplicates, and finds a hierarchy with all cgroup targets,
 * because BPF compares in a single hierarchy.
 */
int targets_finish(struct targets *targets, struct error *err);

/*
 * Finds the hierarchy for --split cgroup without cgroup targets. *result is like
 * targets.controller; the caller frees it. -EOPNOTSUPP: there is none.
 */
int targets_split_hierarchy(char **result, struct error *err);

/*
 * *ret_fd, which the targets own, becomes readable when a target may have ended; -1: none can end.
 * A process ends with its last thread. A cgroup ends when it is removed. A container or unit also
 * ends when it has no processes.
 */
int targets_watch(struct targets *targets, int *ret_fd, struct error *err);

/*
 * Call it after the watch, and whenever its descriptor is readable. Returns how many targets have
 * not ended.
 */
size_t targets_left(struct targets *targets);

/* Returns the text of each target that has ended once, as targets_typed() does; NULL: no more. */
const char *targets_next_ended(struct targets *targets);

void targets_free(struct targets *targets);

enum proposal {
	PROPOSE_CGROUPS,
	PROPOSE_CONTAINERS,
	PROPOSE_UNITS,
	PROPOSE_NAMES,
	PROPOSE_PIDS /* followed by a tab and the process's name */
};

/*
 * Lists possible names for a target of this kind, ascending, without duplicates; free it with
 * names_free().
 */
int proposals_find(enum proposal kind, struct names *result, struct error *err);

#endif
