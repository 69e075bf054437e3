// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/output.h"
#include "base/util.h"
#include "host/targets/targets_impl.h"

static bool name_ends_in(const char *name, size_t length, const char *suffix)
{
	size_t end = strlen(suffix);

	return length > end && !strncmp(name + length - end, suffix, end);
}

/* Whether the name is that of a kind of unit that has processes. */
static bool is_unit_name(const char *name)
{
	static const char *const suffixes[] = { ".service", ".scope", ".slice",
						".socket",  ".mount", ".swap" };
	size_t i;

	for (i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++)
		if (name_ends_in(name, strlen(name), suffixes[i]))
			return true;
	return false;
}

/* systemd puts '_' before a name that equals one of the kernel's files. */
static bool is_unit_named(const char *name, const void *wanted)
{
	return !strcmp(name, wanted) || (*name == '_' && !strcmp(name + 1, wanted));
}

static bool any_unit(const char *name, const void *wanted)
{
	(void)wanted;
	return is_unit_name(name);
}

/*
 * Parents of a unit of the system's systemd are slices. Units of a user or container are inside
 * another unit.
 */
static bool is_system_unit(const char *path)
{
	const char *end;

	while ((end = strchr(++path, '/'))) {
		if (!name_ends_in(path, (size_t)(end - path), ".slice"))
			return false;
		path = end;
	}
	return true;
}

/* Chooses the path: the system's, or the only one; NULL: it is ambiguous. */
static const char *choose_path(const struct cgroup_places *places)
{
	const char *system = NULL, *only = places->list[0].path;
	size_t i;

	for (i = 0; i < places->nr; i++) {
		const char *path = places->list[i].path;

		if (is_system_unit(path)) {
			if (system && strcmp(system, path) != 0)
				return NULL;
			system = path;
		}
		if (only && strcmp(only, path) != 0)
			only = NULL;
	}
	return system ? system : only;
}

static bool is_at_path(const struct cgroup_place *place, const void *path)
{
	return !strcmp(place->path, path);
}

/* A path that differs from this one; NULL: there is none. */
static const char *other_path(const struct cgroup_places *places, const char *path)
{
	size_t i;

	for (i = 0; i < places->nr; i++)
		if (strcmp(places->list[i].path, path) != 0)
			return places->list[i].path;
	return NULL;
}

static int refuse_several_units(const struct cgroup_places *places, const char *unit,
				struct error *err)
{
	const char *first = places->list[0].path, *second = other_path(places, first);

	error_set(err, -ENOTUNIQ, "--unit '%s': several of that name, as %s and %s", unit, first,
		  second ?: first);
	error_hint(err, "--cgroup %s", first);
	return -ENOTUNIQ;
}

int unit_names(const struct cgroups *cgroups, struct names *names, struct error *err)
{
	return cgroup_places_names(cgroups, any_unit, cgroup_place_name, "units", names, err);
}

static int no_unit(const struct cgroups *cgroups, const char *unit, struct error *err)
{
	cleanup_names struct names names = { 0 };
	const char *near = NULL;

	error_set(err, -ENOENT, "--unit '%s': no running unit has this name", unit);
	if (!unit_names(cgroups, &names, NULL))
		near = names_nearest(&names, unit);
	if (near)
		error_hint(err, "--unit %s", near);
	return -ENOENT;
}

/* The system's unit is used. Mention another one of that name, of a user or a container. */
static void say_others(const struct cgroup_places *places, const char *unit, const char *chosen)
{
	const char *other = other_path(places, chosen);

	if (other)
		print_message(NULL, "--unit '%s': the system's own; for the other one: --cgroup %s",
			      unit, other);
}

static int find_unit_cgroup(const struct cgroups *cgroups, const char *unit,
			    struct cgroup_places *result, struct error *err)
{
	cleanup_free char *path = NULL;
	const char *chosen;
	int ret = cgroup_places_find(result, cgroups, is_unit_named, unit, err);

	if (ret)
		return ret;
	if (!result->nr)
		return no_unit(cgroups, unit, err);
	chosen = choose_path(result);
	if (!chosen)
		return refuse_several_units(result, unit, err);
	path = strdup(chosen);
	if (!path)
		return error_errno(err, -ENOMEM, "--unit '%s'", unit);
	say_others(result, unit, path);
	cgroup_places_filter(result, is_at_path, path);
	if (!cgroup_places_keep_populated(result))
		return error_set(err, -ESRCH, "--unit '%s': nobody is in its cgroup", unit);
	return 0;
}

int targets_add_unit(struct targets *targets, const char *name, struct error *err)
{
	cleanup_places struct cgroup_places places = { 0 };
	const struct cgroups *cgroups;
	cleanup_free char *unit = NULL;
	int ret;

	if (!*name || strchr(name, '/'))
		return error_set(err, -EINVAL, "--unit '%s': must be a unit's name, like nginx",
				 name);
	unit = format_text("%s%s", name, is_unit_name(name) ? "" : ".service");
	if (!unit)
		return error_errno(err, -ENOMEM, "--unit '%s'", name);
	ret = targets_cgroups(targets, &cgroups, err);
	if (!ret)
		ret = find_unit_cgroup(cgroups, unit, &places, err);
	return ret ?: targets_add_places(targets, "--unit", unit, &places, true, err);
}
