// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "base/nearest.h"
#include "host/targets/targets_impl.h"

static int list_directory(const char *path, struct names *names)
{
	DIR *entries = opendir(path);
	struct dirent *entry;
	int ret = 0;

	while (entries && !ret && (entry = readdir(entries)))
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
			ret = names_add(names, entry->d_name, strlen(entry->d_name));
	if (entries)
		closedir(entries);
	return ret;
}

/* Follows path as far as it exists, and suggests a name there that is similar to the next part. */
static bool suggest_sibling(const struct cgroup_mount *mount, const char *path, struct error *err)
{
	char directory[PATH_MAX], word[NAME_MAX + 1];
	const char *rest = path, *near = NULL;
	cleanup_names struct names names = { 0 };
	size_t at, length;

	at = (size_t)snprintf(directory, sizeof(directory), "%s", mount->where);
	for (;;) {
		rest += strspn(rest, "/");
		length = strcspn(rest, "/");
		if (!length || length > NAME_MAX || at + length + 2 > sizeof(directory))
			return false;
		memcpy(word, rest, length);
		word[length] = '\0';
		snprintf(directory + at, sizeof(directory) - at, "/%s", word);
		if (access(directory, F_OK))
			break;
		at += length + 1;
		rest += length;
	}
	directory[at] = '\0';
	if (!list_directory(directory, &names))
		near = names_nearest(&names, word);
	if (near)
		error_hint(err, "--cgroup %s/%s%s", directory + strlen(mount->where), near,
			   rest + length);
	return near;
}

static bool is_cgroup_named(const char *name, const void *wanted)
{
	return !strcmp(name, wanted);
}

/* Suggests a path if only its last name was given, or if its beginning is wrong. */
static bool suggest_path(const struct cgroups *cgroups, const char *path, struct error *err)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	cleanup_places struct cgroup_places places = { 0 };

	if (*name)
		cgroup_places_find(&places, cgroups, is_cgroup_named, name, NULL);
	if (places.nr)
		error_hint(err, "--cgroup %s", places.list[0].path);
	return places.nr;
}

static int no_cgroup(const struct cgroups *cgroups, const char *path, struct error *err)
{
	size_t i;

	error_set(err, -ENOENT, "--cgroup '%s': no such cgroup", path);
	if (suggest_path(cgroups, path, err))
		return -ENOENT;
	for (i = 0; i < cgroups->nr; i++)
		if (cgroups->list[i].hierarchy == i &&
		    suggest_sibling(&cgroups->list[i], path, err))
			break;
	return -ENOENT;
}

/*
 * Version 1 hierarchies are mounted side by side. Users who see /sys/fs/cgroup type memory/x for a
 * path below a mount.
 */
static int find_beside(const struct cgroups *cgroups, const char *path,
		       struct cgroup_places *result)
{
	char directory[PATH_MAX];
	size_t i;

	for (i = 0; i < cgroups->nr; i++) {
		const char *where = cgroups->list[i].where;

		snprintf(directory, sizeof(directory), "%.*s/%s",
			 (int)(strrchr(where, '/') - where), where, path);
		if (!cgroup_places_add_directory(result, cgroups, directory))
			return 0;
	}
	return -ENOENT;
}

/* Tries path as a directory, then as a path below a mount, then as a path beside it. */
static int find_cgroup(const struct cgroups *cgroups, const char *path,
		       struct cgroup_places *result, struct error *err)
{
	int as_directory = -ENOENT, ret;

	if (*path == '/')
		as_directory = cgroup_places_add_directory(result, cgroups, path);
	ret = as_directory ? cgroup_places_add_each(result, cgroups, path) : 0;
	if (ret == -ENOENT && *path != '/')
		ret = find_beside(cgroups, path, result);
	if (!ret)
		return 0;
	if (ret != -ENOENT)
		return error_errno(err, ret, "--cgroup '%s'", path);
	if (as_directory == -ENOTDIR)
		return error_set(err, -ENOTDIR, "--cgroup '%s': not in a cgroup file system", path);
	if (as_directory != -ENOENT)
		return error_errno(err, as_directory, "--cgroup '%s'", path);
	return no_cgroup(cgroups, path, err);
}

int targets_add_cgroup(struct targets *targets, const char *path, struct error *err)
{
	cleanup_places struct cgroup_places places = { 0 };
	const struct cgroups *cgroups;
	int ret;

	if (!*path)
		return error_set(err, -EINVAL, "--cgroup '': must be a path; / is the root");
	ret = targets_cgroups(targets, &cgroups, err);
	if (!ret)
		ret = find_cgroup(cgroups, path, &places, err);
	if (ret)
		return ret;
	/* If the cgroup is still empty, keep all of its places. */
	cgroup_places_keep_populated(&places);
	return targets_add_places(targets, "--cgroup", path, &places, false, err);
}
