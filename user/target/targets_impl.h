/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TARGETS_IMPL_H
#define BPFPROFIL_TARGETS_IMPL_H

#include "target/cgroups.h"
#include "target/targets.h"

/* What a target was made from. */
struct target_origin {
	char *typed; /* as in "--container 'web'", for messages */
	bool ends_empty; /* when nobody is left in it */
	struct cgroup_places places; /* where it is, of which targets_finish() chooses */
	const struct cgroup_place *place;
	/* Of its processes from when they were found on: a pid may be given away. */
	int *pid_fds;
	size_t nr_pid_fds;
	char *chosen; /* which ones a pattern named, for the user to see; or NULL */
	int member_fd; /* of a process in a cgroup that cannot say when it is empty; or -1 */
	bool ended;
};

/* Takes over what target->name and *origin hold, also when it fails. */
int targets_add(struct targets *targets, struct target *target, struct target_origin *origin,
		struct error *err);

/* Takes over the descriptor of a process, also when it fails. */
int target_origin_add_process(struct target_origin *origin, int fd, struct error *err);

/* Adds a cgroup target that is in these places, which it takes over; there is at least one. */
int targets_add_places(struct targets *targets, const char *option, const char *name,
		       struct cgroup_places *places, bool ends_empty, struct error *err);

/* The units of systemd that have a cgroup, each as often as it is in a hierarchy. */
struct names;
int unit_names(const struct cgroups *cgroups, struct names *names, struct error *err);

/* The names of all processes but the kernel's and ourselves. */
int process_names(struct names *names, struct error *err);

/* This host's cgroups, read once. */
int targets_cgroups(struct targets *targets, const struct cgroups **ret, struct error *err);

void target_free(struct target *target); /* what it holds */
void target_origin_free(struct target_origin *origin);
void target_watch_free(struct target_watch *watch); /* NULL is fine */

#endif
