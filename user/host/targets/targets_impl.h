/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TARGETS_IMPL_H
#define BPFPROFIL_TARGETS_IMPL_H

#include "host/targets/cgroups.h"
#include "host/targets/targets.h"

/* What a target was made from. */
struct target_origin {
	char *typed; /* as in "--container 'web'", for messages */
	bool ends_empty; /* it ends when no process is left in it */
	struct cgroup_places places; /* its places, from which targets_finish() chooses */
	const struct cgroup_place *place;
	/*
	 * Descriptors of its processes, opened when they were found, because a pid may be reused.
	 */
	int *pid_fds;
	size_t nr_pid_fds;
	char *chosen; /* which processes a pattern matched, for the user; or NULL */
	int member_fd; /* of a process in a cgroup that cannot tell when it is empty; or -1 */
	bool ended;
};

/* Takes over what target->name and *origin hold, even on failure. */
int targets_add(struct targets *targets, struct target *target, struct target_origin *origin,
		struct error *err);

/* Adds a cgroup target with these places, at least one, and takes them over. */
int targets_add_places(struct targets *targets, const char *option, const char *name,
		       struct cgroup_places *places, bool ends_empty, struct error *err);

/* The containers that runtimes or directories of cgroups name. */
struct names;
int container_names_all(const struct cgroups *cgroups, struct names *names, struct error *err);

/* The systemd units that have a cgroup, each once for each hierarchy it is in. */
int unit_names(const struct cgroups *cgroups, struct names *names, struct error *err);

/* The names of all processes except kernel threads and ourselves; numbered: "PID<tab>NAME". */
int process_names(bool numbered, struct names *names, struct error *err);

/* The cgroups of a container by its first process; there may be none that are its own. */
struct runtime_container;
int container_places_of(const struct cgroups *cgroups, const struct runtime_container *container,
			struct cgroup_places *result);

/* The pid that /proc/PID/status has under that name; 0: it has none. proc is where procfs is. */
pid_t proc_status_pid(const char *proc, pid_t pid, const char *name);

/* This host's cgroups, which are read once. */
int targets_cgroups(struct targets *targets, const struct cgroups **result, struct error *err);

void target_origin_free(struct target_origin *origin);
void target_watch_free(struct target_watch *watch); /* NULL is fine */

#endif
