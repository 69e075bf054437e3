// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/targets/targets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/util.h"
#include "host/targets/targets_impl.h"

void target_origin_free(struct target_origin *origin)
{
	size_t i;

	free(origin->typed);
	cgroup_places_free(&origin->places);
	for (i = 0; i < origin->nr_pid_fds; i++)
		close_fd(&origin->pid_fds[i]);
	free(origin->pid_fds);
	free(origin->chosen);
	close_fd(&origin->member_fd);
}

/*
 * The strings of a target belong to struct targets, so they are freed although readers see them as
 * const.
 */
void target_free(struct target *target)
{
	free((char *)target->name);
	free((pid_t *)target->others);
}

static int make_target_room(struct targets *targets)
{
	int ret;

	ret = grow((void **)&targets->list, &targets->capacity, targets->nr + 1,
		   sizeof(*targets->list));
	return ret ? ret :
		     grow((void **)&targets->origins, &targets->origins_capacity, targets->nr + 1,
			  sizeof(*targets->origins));
}

int targets_check_namespace(const char *what, struct error *err)
{
	enum { HOST = 0xeffffffc }; /* the kernel's PROC_PID_INIT_INO, the same on all kernels */
	struct stat status;

	if (stat("/proc/self/ns/pid", &status) || status.st_ino == HOST)
		return 0;
	error_set(err, -EOPNOTSUPP,
		  "%s: pids here are not the host's, which the kernel counts "
		  "by: this is a pid namespace of its own",
		  what);
	error_hint(err, "starting bpfprofil on the host, or its container with --pid=host (docker, "
			"podman) or hostPID: true (Kubernetes)");
	return -EOPNOTSUPP;
}

int targets_add(struct targets *targets, struct target *target, struct target_origin *origin,
		struct error *err)
{
	int ret = target->name && origin->typed ? make_target_room(targets) : -ENOMEM;

	if (ret) {
		target_free(target);
		target_origin_free(origin);
		return error_errno(err, ret, "targets");
	}
	targets->list[targets->nr] = *target;
	targets->origins[targets->nr++] = *origin;
	return 0;
}

int targets_add_places(struct targets *targets, const char *option, const char *name,
		       struct cgroup_places *places, bool ends_empty, struct error *err)
{
	struct target target = { .kind = TARGET_CGROUP, .name = strdup(name) };
	struct target_origin origin = { .places = *places,
					.ends_empty = ends_empty,
					.member_fd = -1 };

	*places = (struct cgroup_places){ 0 };
	if (asprintf(&origin.typed, "%s '%s'", option, name) < 0)
		origin.typed = NULL;
	return targets_add(targets, &target, &origin, err);
}

int targets_add_all(struct targets *targets, struct error *err)
{
	struct target target = { .kind = TARGET_SYSTEM, .name = strdup("all processes") };
	struct target_origin origin = { .typed = strdup("--all"), .member_fd = -1 };

	return targets_add(targets, &target, &origin, err);
}

int targets_cgroups(struct targets *targets, const struct cgroups **result, struct error *err)
{
	int ret;

	if (!targets->cgroups) {
		targets->cgroups = calloc(1, sizeof(*targets->cgroups));
		if (!targets->cgroups)
			return error_errno(err, -ENOMEM, "cgroups");
		ret = cgroups_read(targets->cgroups, "/proc", err);
		if (ret) {
			free(targets->cgroups);
			targets->cgroups = NULL;
			return ret;
		}
	}
	*result = targets->cgroups;
	if (targets->cgroups->nr)
		return 0;
	error_set(err, -EOPNOTSUPP, "cgroups: no hierarchy of them is mounted here");
	error_hint(err, "mount -t cgroup2 none /sys/fs/cgroup");
	return -EOPNOTSUPP;
}

const char *targets_chosen(const struct targets *targets, size_t i)
{
	return targets->origins[i].chosen;
}

const char *targets_typed(const struct targets *targets, size_t i)
{
	return targets->origins[i].typed;
}

void targets_free(struct targets *targets)
{
	size_t i;

	for (i = 0; i < targets->nr; i++) {
		target_free(&targets->list[i]);
		target_origin_free(&targets->origins[i]);
	}
	free(targets->list);
	free(targets->origins);
	free(targets->controller);
	if (targets->cgroups)
		cgroups_free(targets->cgroups);
	free(targets->cgroups);
	target_watch_free(targets->watch);
	*targets = (struct targets){ 0 };
}
