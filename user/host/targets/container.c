// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "base/cgroup_parts.h"
#include "base/nearest.h"
#include "host/targets/runtimes.h"
#include "host/targets/targets_impl.h"

#define LISTED_MAX 5

static bool has_prefix(const char *directory, const void *wanted)
{
	const char *id = container_id_in(directory);

	return id && !strncmp(id, wanted, strlen(wanted));
}

static bool is_same_id(const struct cgroup_place *a, const struct cgroup_place *b)
{
	return !strncmp(container_id_in(cgroup_place_name(a)),
			container_id_in(cgroup_place_name(b)), CONTAINER_ID_LENGTH);
}

/* Refuses a prefix that is ambiguous. Lists each id once, even if it is in several hierarchies. */
static int refuse_prefix(const struct cgroup_places *places, const char *typed, struct error *err)
{
	char list[LISTED_MAX * (CONTAINER_ID_SHORT + 8) + 8];
	size_t i, j, nr = 0, length = 0;

	for (i = 0; i < places->nr; i++) {
		const char *id = container_id_in(cgroup_place_name(&places->list[i]));

		for (j = 0; j < i && !is_same_id(&places->list[i], &places->list[j]);)
			j++;
		if (j < i || nr++ >= LISTED_MAX)
			continue;
		length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%.*s",
					   nr > 1 ? ", " : "", CONTAINER_ID_SHORT + 4, id);
	}
	return error_with_hint(err, -ENOTUNIQ, "--container with more of the id",
			       "--container '%s': %zu containers' ids begin so: %s%s", typed, nr,
			       list, nr > LISTED_MAX ? ", ..." : "");
}

/* Finds the directories of the container whose id has this prefix; -ENOENT: there is none. */
static int find_prefix(const struct cgroups *cgroups, const char *prefix,
		       struct cgroup_places *result, struct error *err)
{
	size_t i;
	int ret = cgroup_places_find(result, cgroups, has_prefix, prefix, err);

	if (ret)
		return ret;
	for (i = 1; i < result->nr; i++)
		if (!is_same_id(&result->list[0], &result->list[i]))
			return refuse_prefix(result, prefix, err);
	return result->nr ? 0 : -ENOENT;
}

/*
 * Cuts the path after the container's directory, because the container may have moved itself below
 * it.
 */
static void cut_below(struct cgroup_place *place, const char *id)
{
	char *name = place->path, *end;

	while (*name) {
		end = strchrnul(++name, '/');
		if (*end) {
			*end = '\0';
			if (container_id_names(id, name))
				return;
			*end = '/';
		}
		name = end;
	}
}

static bool is_own(const struct cgroup_place *place, const void *argument)
{
	const struct cgroup_place *theirs = cgroup_places_in(argument, place->mount->hierarchy);

	return strcmp(place->path, "/") != 0 && (!theirs || strcmp(theirs->path, place->path) != 0);
}

/*
 * If a runtime made no cgroup, as some do not in version 2 on a hybrid host, the process is in its
 * parent's cgroup, which is not the container's.
 */
int container_places_of(const struct cgroups *cgroups, const struct runtime_container *container,
			struct cgroup_places *result)
{
	cleanup_places struct cgroup_places theirs = { 0 };
	struct cgroup_places cut = { 0 };
	int ret;
	size_t i;

	ret = cgroup_places_add_process(result, cgroups, container->pid);
	if (ret)
		return ret;
	cgroup_places_add_process(&theirs, cgroups,
				  proc_status_pid(cgroups->proc, container->pid, "PPid"));
	cgroup_places_filter(result, is_own, &theirs);
	for (i = 0; !ret && i < result->nr; i++) {
		cut_below(&result->list[i], container->id);
		ret = cgroup_places_add(&cut, result->list[i].mount, result->list[i].path);
	}
	cgroup_places_free(result);
	*result = cut;
	return ret;
}

static int refuse_shared(const char *typed, const struct runtime_container *container,
			 struct error *err)
{
	error_set(err, -ENOENT,
		  "--container '%s': %s gave it no cgroup of its own, by which its processes could "
		  "be told from others",
		  typed, container->runtime);
	error_hint(err, "--pid %d", container->pid);
	return -ENOENT;
}

/* In a container that only shows its own cgroups, no cgroup of the process is below a mount. */
static bool is_out_of_view(const struct cgroups *cgroups, const struct runtime_container *container)
{
	cleanup_places struct cgroup_places places = { 0 };

	return !cgroup_places_add_process(&places, cgroups, container->pid) && !places.nr;
}

static int refuse_hidden(const char *typed, struct error *err)
{
	return error_with_hint(
		err, -ENOENT,
		"-v /sys/fs/cgroup:/sys/fs/cgroup:ro or --cgroupns host, if this is a container",
		"--container '%s': its cgroup is not below a mount that is seen here", typed);
}

/* Finds the cgroups of a container that a runtime has reported. */
static int find_reported(const struct cgroups *cgroups, const char *typed,
			 const struct runtime_container *container, struct cgroup_places *result,
			 struct error *err)
{
	int ret = -ENOENT;

	if (container->stopped)
		return error_set(err, -ESRCH, "--container '%s': not running, says %s", typed,
				 container->runtime);
	if (container_id_is_full(container->id))
		ret = find_prefix(cgroups, container->id, result, err);
	if (ret != -ENOENT)
		return ret;
	if (container->pid <= 0)
		return error_set(err, -ENOENT, "--container '%s': %s knows it, but no cgroup is it",
				 typed, container->runtime);
	ret = container_places_of(cgroups, container, result);
	if (ret == -ESRCH)
		return error_set(err, ret, "--container '%s': has ended", typed);
	if (ret)
		return error_errno(err, ret, "--container '%s'", typed);
	if (result->nr)
		return 0;
	if (is_out_of_view(cgroups, container))
		return refuse_hidden(typed, err);
	return refuse_shared(typed, container, err);
}

static int refuse_several_containers(const struct runtime_containers *reported, const char *typed,
				     struct error *err)
{
	char list[320] = "";
	size_t i, length = 0;

	for (i = 0; i < reported->nr && i < LISTED_MAX && length < sizeof(list) - 1; i++)
		length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%.*s (%s%s%s)",
					   i ? ", " : "", CONTAINER_ID_SHORT, reported->list[i].id,
					   reported->list[i].runtime,
					   reported->list[i].where ? " " : "",
					   reported->list[i].where ?: "");
	error_set(err, -ENOTUNIQ, "--container '%s': %zu containers: %s%s", typed, reported->nr,
		  list, reported->nr > LISTED_MAX ? ", ..." : "");
	error_hint(err, "--container %.*s", CONTAINER_ID_SHORT, reported->list[0].id);
	return -ENOTUNIQ;
}

static int refuse_both(const struct runtime_container *reported, const struct cgroup_place *place,
		       const char *typed, struct error *err)
{
	error_set(err, -ENOTUNIQ, "--container '%s': one of %s, and %.200s", typed,
		  reported->runtime, place->path);
	error_hint(err, "--container %.*s, or --cgroup %.200s", CONTAINER_ID_SHORT, reported->id,
		   place->path);
	return -ENOTUNIQ;
}

/* Two runtimes may report the same container, because docker may be a wrapper of podman. */
static bool are_one(const struct runtime_containers *reported)
{
	size_t i;

	for (i = 1; i < reported->nr; i++)
		if (strcmp(reported->list[0].id, reported->list[i].id) != 0)
			return false;
	return reported->nr;
}

static bool has_id(const char *directory, const void *wanted)
{
	(void)wanted;
	return container_id_in(directory);
}

/* Matches LXC's containers, which need no command; wanted NULL: all. */
static bool has_name(const char *directory, const void *wanted)
{
	const char *name = container_name_in(directory);

	return name && container_name_is_valid(name) && (!wanted || !strcmp(name, wanted));
}

/* Whether root made it, rather than a user, or somebody inside another container. */
static bool is_roots(const struct cgroup_place *place, const void *argument)
{
	char above[PATH_MAX];
	struct cgroup_parts parts;

	(void)argument;
	snprintf(above, sizeof(above), "%.*s", (int)(cgroup_place_name(place) - place->path),
		 place->path);
	cgroup_parts_find(above, &parts);
	if (parts.name[0] || parts.container[0])
		return false;
	cgroup_parts_find(place->path, &parts);
	return parts.name[0];
}

/* Places are sorted by hierarchy. */
static int check_one(const struct cgroup_places *places, const char *name, struct error *err)
{
	const struct cgroup_place *a, *b;
	size_t i;

	for (i = 1; i < places->nr; i++) {
		a = &places->list[i - 1];
		b = &places->list[i];
		if (a->mount->hierarchy != b->mount->hierarchy)
			continue;
		error_set(err, -ENOTUNIQ, "--container '%s': %.150s and %.150s have this name",
			  name, a->path, b->path);
		error_hint(err, "--cgroup %.200s", a->path);
		return -ENOTUNIQ;
	}
	return places->nr ? 0 : -ENOENT;
}

/*
 * Finds containers by name. If it is a name of root's containers, other users' ones of that name do
 * not count.
 */
static int find_name(const struct cgroups *cgroups, const char *name, bool of_root,
		     struct cgroup_places *result, struct error *err)
{
	int ret = cgroup_places_find(result, cgroups, has_name, name, err);

	if (ret)
		return ret;
	if (of_root)
		cgroup_places_filter(result, is_roots, NULL);
	if (!cgroup_places_keep_populated(result))
		cgroup_places_free(result);
	return check_one(result, name, err);
}

static const char *name_of(const struct cgroup_place *place)
{
	return container_name_in(cgroup_place_name(place));
}

int container_names_all(const struct cgroups *cgroups, struct names *names, struct error *err)
{
	int ret = runtimes_names(names, err);

	return ret ?: cgroup_places_names(cgroups, has_name, name_of, "containers", names, err);
}

/* Collects names of containers, and short forms of ids. */
static int collect_names(const struct cgroups *cgroups, const char *typed, struct names *names)
{
	cleanup_places struct cgroup_places places = { 0 };
	size_t i;
	int ret = container_names_all(cgroups, names, NULL);

	if (!ret && container_id_is_prefix(typed))
		ret = cgroup_places_find(&places, cgroups, has_id, NULL, NULL);
	for (i = 0; !ret && i < places.nr; i++)
		ret = names_add(names, container_id_in(cgroup_place_name(&places.list[i])),
				CONTAINER_ID_SHORT);
	return ret;
}

/* Explains why there may be none: no runtime is reachable, or only a part is visible. */
static void hint_at_view(const struct runtime_containers *reported, struct error *err)
{
	if (own_namespace("cgroup", HOST_CGROUPS))
		error_hint(err,
			   "--cgroupns host and -v /sys/fs/cgroup:/sys/fs/cgroup:ro: only this "
			   "container's cgroups are seen here");
	else if (geteuid() && reported->trouble[0])
		error_hint(err, "sudo: the runtime may answer to root only");
	else if (!reported->trouble[0] && !reported->without[0])
		error_hint(err,
			   "its id, or --cgroup: no runtime's command is here that knows names");
}

static int no_container(const struct cgroups *cgroups, const char *typed,
			const struct runtime_containers *reported, struct error *err)
{
	cleanup_names struct names names = { 0 };
	const char *near = NULL;
	bool partly = reported->trouble[0] && reported->without[0];

	error_set(err, -ENOENT,
		  "--container '%s': no running container of that name or id%s%s%s%s%s", typed,
		  partly ? " in " : "", partly ? reported->without : "",
		  reported->trouble[0] ? " (" : "", reported->trouble,
		  reported->trouble[0] ? ")" : "");
	if (!collect_names(cgroups, typed, &names))
		near = names_nearest(&names, typed);
	if (near)
		error_hint(err, "--container %s", near);
	else
		hint_at_view(reported, err);
	return -ENOENT;
}

/*
 * A long prefix of an id is hardly a name. Therefore search it first. Try a short one as a name
 * first.
 */
static int find_container(const struct cgroups *cgroups, const char *typed,
			  struct cgroup_places *result, struct error *err)
{
	bool is_prefix = container_id_is_prefix(typed);
	struct runtime_containers reported = { 0 };
	int ret = -ENOENT;

	if (is_prefix && strlen(typed) >= CONTAINER_ID_SHORT)
		ret = find_prefix(cgroups, typed, result, err);
	if (ret != -ENOENT)
		return ret;
	ret = runtimes_ask(typed, &reported, err);
	if (ret)
		return ret;
	ret = find_name(cgroups, typed, true, result, err);
	if (!ret && reported.nr && !reported.list[0].stopped)
		ret = refuse_both(&reported.list[0], &result->list[0], typed, err);
	else if (ret == -ENOENT && are_one(&reported))
		ret = find_reported(cgroups, typed, &reported.list[0], result, err);
	else if (ret == -ENOENT && reported.nr)
		ret = refuse_several_containers(&reported, typed, err);
	else if (ret == -ENOENT && is_prefix)
		ret = find_prefix(cgroups, typed, result, err);
	if (ret == -ENOENT && !reported.nr)
		ret = find_name(cgroups, typed, false, result, err);
	if (ret == -ENOENT && !reported.nr)
		no_container(cgroups, typed, &reported, err);
	runtime_containers_free(&reported);
	return ret;
}

int targets_add_container(struct targets *targets, const char *typed, struct error *err)
{
	const char *name = container_name_bare(typed);
	cleanup_places struct cgroup_places places = { 0 };
	const struct cgroups *cgroups;
	int ret;

	if (!container_name_is_valid(name))
		return error_set(err, -EINVAL,
				 "--container '%s': must be a name, or an id or its beginning",
				 typed);
	ret = targets_cgroups(targets, &cgroups, err);
	if (!ret)
		ret = find_container(cgroups, name, &places, err);
	if (!ret && !cgroup_places_keep_populated(&places))
		ret = error_set(err, -ESRCH, "--container '%s': nobody is in its cgroup", name);
	return ret ?: targets_add_places(targets, "--container", name, &places, true, err);
}
