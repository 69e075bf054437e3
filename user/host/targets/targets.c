// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/targets/targets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "host/targets/targets_impl.h"

/* Counts cgroups with processes, below the root. */
static size_t count_places(const struct cgroup_places *places, size_t hierarchy)
{
	size_t i, nr = 0;

	for (i = 0; i < places->nr; i++)
		if (places->list[i].mount->hierarchy == hierarchy)
			nr += cgroup_place_is_populated(&places->list[i]);
	return nr;
}

/*
 * Chooses version 2 if its cgroups have processes: a hybrid host may have version 2 without using
 * it. Otherwise chooses the hierarchy with the most cgroups that have processes.
 */
static const struct cgroup_mount *choose_split_hierarchy(const struct cgroups *cgroups,
							 const struct cgroup_places *places)
{
	const struct cgroup_mount *best = NULL;
	size_t i, nr, most = 0;

	for (i = 0; i < cgroups->nr; i++) {
		const struct cgroup_mount *mount = &cgroups->list[i];

		if (mount->hierarchy != i || (!cgroup_mount_is_v2(mount) && !mount->controller))
			continue;
		nr = count_places(places, i);
		if (nr && cgroup_mount_is_v2(mount))
			return mount;
		if (nr > most || (cgroup_mount_is_v2(mount) && !best)) {
			best = mount;
			most = nr;
		}
	}
	return best;
}

int targets_split_hierarchy(char **result, struct error *err)
{
	cleanup_places struct cgroup_places places = { 0 };
	const struct cgroup_mount *mount;
	struct cgroups cgroups;
	int ret;

	*result = NULL;
	ret = cgroups_read(&cgroups, "/proc", err);
	if (ret)
		return ret;
	ret = cgroup_places_find(&places, &cgroups, NULL, NULL, err);
	mount = ret ? NULL : choose_split_hierarchy(&cgroups, &places);
	if (!ret && !mount) {
		ret = error_set(err, -EOPNOTSUPP,
				"--split cgroup: processes here are all in one cgroup");
		error_hint(err, "--split process");
	} else if (mount && mount->controller) {
		*result = strdup(mount->controller);
		if (!*result)
			ret = error_errno(err, -ENOMEM, "--split cgroup");
	}
	cgroups_free(&cgroups);
	return ret;
}

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

/* struct targets owns the strings of a target; they are const only for readers. */
static void free_target(struct target *target)
{
	free((char *)target->name);
	free((pid_t *)target->others);
}

static int make_target_room(struct targets *targets)
{
	int ret = GROW(targets->list, targets->capacity, targets->nr + 1);

	return ret ? ret : GROW(targets->origins, targets->origins_capacity, targets->nr + 1);
}

int targets_check_namespace(const char *what, struct error *err)
{
	if (!own_namespace("pid", HOST_PIDS))
		return 0;
	error_set(err, -EOPNOTSUPP,
		  "%s: pids here are not the host's, which the kernel counts "
		  "by: this is a pid namespace of its own",
		  what);
	error_hint(err,
		   "starting bpfprofil on the host, or its container with --pid=host%s (docker, "
		   "podman) or hostPID: true (Kubernetes)",
		   own_namespace("user", HOST_USERS) ? " --userns=host" : "");
	return -EOPNOTSUPP;
}

int targets_add(struct targets *targets, struct target *target, struct target_origin *origin,
		struct error *err)
{
	int ret = target->name && origin->typed ? make_target_room(targets) : -ENOMEM;

	if (ret) {
		free_target(target);
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
	origin.typed = format_text("%s '%s'", option, name);
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
	return error_with_hint(err, -EOPNOTSUPP, "mount -t cgroup2 none /sys/fs/cgroup",
			       "cgroups: no hierarchy of them is mounted here");
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
		free_target(&targets->list[i]);
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

static bool is_same_target(const struct target *a, const struct target *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == TARGET_CGROUP)
		return a->cgroup == b->cgroup;
	return a->kind == TARGET_SYSTEM ||
	       (a->pid == b->pid && a->nr_others == b->nr_others &&
		(!a->nr_others ||
		 !memcmp(a->others, b->others, a->nr_others * sizeof(*a->others))));
}

static bool is_before(const struct targets *targets, size_t i)
{
	size_t j;

	for (j = 0; j < i; j++)
		if (is_same_target(&targets->list[j], &targets->list[i]))
			return true;
	return false;
}

/* Of equal targets, keeps the first. */
static void remove_doubles(struct targets *targets)
{
	size_t from, to = 0, nr = targets->nr;

	for (from = 0; from < nr; from++) {
		targets->list[to] = targets->list[from];
		targets->origins[to] = targets->origins[from];
		if (is_before(targets, to)) {
			free_target(&targets->list[to]);
			target_origin_free(&targets->origins[to]);
		} else {
			to++;
		}
	}
	targets->nr = to;
}

/* Whether all cgroup targets have a place in this hierarchy. */
static bool holds_all(const struct targets *targets, size_t hierarchy)
{
	size_t i;

	for (i = 0; i < targets->nr; i++)
		if (targets->list[i].kind == TARGET_CGROUP &&
		    !cgroup_places_in(&targets->origins[i].places, hierarchy))
			return false;
	return true;
}

/* BPF finds a process's cgroup in a version 1 hierarchy by the controller. */
static bool can_compare(const struct cgroup_mount *mount)
{
	return cgroup_mount_is_v2(mount) || mount->controller;
}

static const struct cgroup_mount *choose_hierarchy(const struct targets *targets)
{
	const struct cgroups *cgroups = targets->cgroups;
	size_t i;

	for (i = 0; i < cgroups->nr; i++)
		if (cgroups->list[i].hierarchy == i && can_compare(&cgroups->list[i]) &&
		    holds_all(targets, i))
			return &cgroups->list[i];
	return NULL;
}

/*
 * Finds a target that is only in named hierarchies without controllers, such as systemd's own in
 * version 1.
 */
static const struct target_origin *find_incomparable(const struct targets *targets)
{
	size_t i, j;

	for (i = 0; i < targets->nr; i++) {
		const struct cgroup_places *places = &targets->origins[i].places;

		for (j = 0; j < places->nr; j++)
			if (can_compare(places->list[j].mount))
				break;
		if (targets->list[i].kind == TARGET_CGROUP && j == places->nr)
			return &targets->origins[i];
	}
	return NULL;
}

static int refuse_incomparable(const struct targets *targets, const struct target_origin *origin,
			       struct error *err)
{
	const struct cgroup_place *place = &origin->places.list[0];
	const char *name = strrchr(place->path, '/') + 1;
	cleanup_places struct cgroup_places others = { 0 };
	cleanup_free char *directory = NULL;
	size_t i;

	error_set(err, -EOPNOTSUPP,
		  "%s: only in the cgroup hierarchy %s, which has no controller, and the kernel "
		  "tells BPF programs a process's cgroup of version 1 by a controller",
		  origin->typed, cgroup_mount_name(place->mount));
	for (i = 0; i < targets->cgroups->nr && !others.nr; i++)
		if (can_compare(&targets->cgroups->list[i]))
			cgroup_places_add(&others, &targets->cgroups->list[i], place->path);
	if (others.nr)
		directory = cgroup_directory(others.list[0].mount, others.list[0].path);
	if (directory)
		error_hint(err, "--cgroup %s", directory);
	else if (strstr(name, ".service") || strstr(name, ".slice") || strstr(name, ".scope"))
		error_hint(err, "systemctl set-property --runtime %s MemoryAccounting=yes", name);
	else
		error_hint(err, "--pid, for each process in it");
	return -EOPNOTSUPP;
}

static int refuse_hierarchies(const struct targets *targets, struct error *err)
{
	cleanup_free char *text = NULL;
	const char *before = "";
	size_t i, j, size;
	FILE *out = open_memstream(&text, &size);

	for (i = 0; out && i < targets->nr; i++) {
		const struct target_origin *origin = &targets->origins[i];

		if (targets->list[i].kind != TARGET_CGROUP)
			continue;
		fprintf(out, "%s%s is in", before, origin->typed);
		before = "; ";
		for (j = 0; j < origin->places.nr; j++)
			fprintf(out, "%s %s", j ? "," : "",
				cgroup_mount_name(origin->places.list[j].mount));
	}
	if (!out || fclose(out))
		return error_no_memory(err, "targets");
	return error_with_hint(err, -EOPNOTSUPP, "a bpfprofil for each",
			       "no one cgroup hierarchy has them all: %.399s", text);
}

static bool has_cgroup(const struct targets *targets)
{
	size_t i;

	for (i = 0; i < targets->nr; i++)
		if (targets->list[i].kind == TARGET_CGROUP)
			return true;
	return false;
}

static int place_cgroups(struct targets *targets, struct error *err)
{
	const struct cgroup_mount *mount = choose_hierarchy(targets);
	const struct target_origin *bad;
	size_t i;

	if (!mount) {
		bad = find_incomparable(targets);
		return bad ? refuse_incomparable(targets, bad, err) :
			     refuse_hierarchies(targets, err);
	}
	if (mount->controller) {
		targets->controller = strdup(mount->controller);
		if (!targets->controller)
			return error_errno(err, -ENOMEM, "targets");
	}
	for (i = 0; i < targets->nr; i++) {
		struct target *target = &targets->list[i];
		struct target_origin *origin = &targets->origins[i];

		if (target->kind != TARGET_CGROUP)
			continue;
		origin->place = cgroup_places_in(&origin->places, mount->hierarchy);
		target->cgroup = origin->place->id;
		target->path = origin->place->path;
	}
	return 0;
}

int targets_finish(struct targets *targets, struct error *err)
{
	int ret = has_cgroup(targets) ? place_cgroups(targets, err) : 0;

	if (!ret)
		remove_doubles(targets);
	return ret;
}
