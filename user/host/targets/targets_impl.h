/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TARGETS_IMPL_H
#define BPFPROFIL_TARGETS_IMPL_H

#include "host/targets/cgroups.h"
#include "host/targets/targets.h"

struct target_origin {
	char *typed; /* like "--container 'web'", for messages */
	bool ends_empty; /* it ends when it has no processes */
	struct cgroup_places places; /* its places; targets_finish() chooses one */
	const struct cgroup_place *place;
	/*
	 * Descriptors of its processes, opened when these were found, because pids may be reused.
	 */
	int *pid_fds;
	size_t nr_pid_fds;
	char *chosen; /* processes that match a pattern, for the user; or NULL */
	int member_fd; /* a process in a cgroup that does not report when it is empty; or -1 */
	bool ended;
	bool announced; /* by targets_next_ended() */
};

/* Owns the contents of target->name and *origin, even on failure. */
int targets_add(struct targets *targets, struct target *target, struct target_origin *origin,
		struct error *err);

/* Adds a cgroup target with these places, at least one, and owns them. */
int targets_add_places(struct targets *targets, const char *option, const char *name,
		       struct cgroup_places *places, bool ends_empty, struct error *err);

/* The names of containers, from runtimes or directories of cgroups. */
struct names;
int container_names_all(const struct cgroups *cgroups, struct names *names, struct error *err);

/* The systemd units with a cgroup, once for each of their hierarchies. */
int unit_names(const struct cgroups *cgroups, struct names *names, struct error *err);

/* The names of all processes except kernel threads and ourselves; numbered: "PID<tab>NAME". */
int process_names(bool numbered, struct names *names, struct error *err);

/* The cgroups of a container, by its first process; it may have none of its own. */
struct runtime_container;
int container_places_of(const struct cgroups *cgroups, const struct runtime_container *container,
			struct cgroup_places *result);

/* The pid with that name in /proc/PID/status; 0: none. proc is the mount point of procfs. */
pid_t proc_status_pid(const char *proc, pid_t pid, const char *name);

/* This host's cgroups, read once. */
int targets_cgroups(struct targets *targets, const struct cgroups **result, struct error *err);

void target_origin_free(struct target_origin *origin);
void target_watch_free(struct target_watch *watch); /* NULL is fine */

#endif
