// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/util.h"
#include "host/targets/cgroups.h"

/* The rest of path behind a leading directory, from its '/' on; NULL: path is not below it. */
static const char *behind(const char *path, const char *directory)
{
	size_t length = strlen(directory);

	if (!strcmp(directory, "/"))
		return path;
	if (strncmp(path, directory, length) != 0 || (path[length] && path[length] != '/'))
		return NULL;
	return path + length;
}

char *cgroup_directory(const struct cgroup_mount *mount, const char *path)
{
	const char *rest = behind(path, mount->root);
	char *directory;

	if (!rest || asprintf(&directory, "%s%s", mount->where, strcmp(rest, "/") ? rest : "") < 0)
		return NULL;
	return directory;
}

static int append_place(struct cgroup_places *places, const struct cgroup_mount *mount, char *path,
			uint64_t id)
{
	int ret;

	if (!path)
		return -ENOMEM;
	ret = grow((void **)&places->list, &places->capacity, places->nr + 1,
		   sizeof(*places->list));
	if (ret) {
		free(path);
		return ret;
	}
	places->list[places->nr++] = (struct cgroup_place){ mount, path, id };
	return 0;
}

int cgroup_places_add(struct cgroup_places *places, const struct cgroup_mount *mount,
		      const char *path)
{
	cleanup_free char *directory = cgroup_directory(mount, path);
	struct stat status;

	if (!directory)
		return behind(path, mount->root) ? -ENOMEM : -ENOENT;
	if (stat(directory, &status))
		return errno == ENOTDIR ? -ENOENT : -errno;
	if (!S_ISDIR(status.st_mode) || status.st_dev != mount->dev)
		return -ENOENT;
	return append_place(places, mount, strdup(path), status.st_ino);
}

/* Adds a directory that a mount shows. realpath() has removed every way out of the mount. */
static int add_below(struct cgroup_places *places, const struct cgroup_mount *mount,
		     const char *directory)
{
	const char *rest = behind(directory, mount->where);
	char path[PATH_MAX];
	bool top;

	if (!rest)
		return -ENOENT;
	top = !strcmp(mount->root, "/");
	snprintf(path, sizeof(path), "%s%s", top && *rest ? "" : mount->root, rest);
	return cgroup_places_add(places, mount, path);
}

int cgroup_places_add_each(struct cgroup_places *places, const struct cgroups *cgroups,
			   const char *path)
{
	char directory[PATH_MAX], real[PATH_MAX];
	size_t i, before = places->nr;
	int ret;

	for (i = 0; i < cgroups->nr; i++) {
		const struct cgroup_mount *mount = &cgroups->list[i];

		if (mount->hierarchy != i)
			continue;
		snprintf(directory, sizeof(directory), "%s/%s", mount->where, path);
		ret = realpath(directory, real) ? add_below(places, mount, real) : -ENOENT;
		if (ret && ret != -ENOENT)
			return ret;
	}
	return places->nr > before ? 0 : -ENOENT;
}

int cgroup_places_add_directory(struct cgroup_places *places, const struct cgroups *cgroups,
				const char *directory)
{
	const struct cgroup_mount *best = NULL;
	char real[PATH_MAX];
	size_t i;

	if (!realpath(directory, real))
		return errno == ENOTDIR ? -ENOENT : -errno;
	/* Of nested mounts the innermost is the visible one. */
	for (i = 0; i < cgroups->nr; i++)
		if (behind(real, cgroups->list[i].where) &&
		    (!best || strlen(cgroups->list[i].where) > strlen(best->where)))
			best = &cgroups->list[i];
	if (!best || add_below(places, best, real))
		return -ENOTDIR;
	return 0;
}

const struct cgroup_place *cgroup_places_in(const struct cgroup_places *places, size_t hierarchy)
{
	size_t i;

	for (i = 0; i < places->nr; i++)
		if (places->list[i].mount->hierarchy == hierarchy)
			return &places->list[i];
	return NULL;
}

void cgroup_places_filter(struct cgroup_places *places,
			  bool (*keep)(const struct cgroup_place *place, const void *argument),
			  const void *argument)
{
	size_t from, to = 0;

	for (from = 0; from < places->nr; from++) {
		if (keep(&places->list[from], argument))
			places->list[to++] = places->list[from];
		else
			free(places->list[from].path);
	}
	places->nr = to;
}

static bool is_populated(const struct cgroup_place *place, const void *argument)
{
	(void)argument;
	return cgroup_place_is_populated(place);
}

bool cgroup_places_keep_populated(struct cgroup_places *places)
{
	size_t i;

	for (i = 0; i < places->nr; i++)
		if (cgroup_place_is_populated(&places->list[i]))
			break;
	if (i == places->nr)
		return false;
	cgroup_places_filter(places, is_populated, NULL);
	return true;
}

void cgroup_places_free(struct cgroup_places *places)
{
	size_t i;

	for (i = 0; i < places->nr; i++)
		free(places->list[i].path);
	free(places->list);
	*places = (struct cgroup_places){ 0 };
}

/* ID:KEY:PATH; the path may contain colons, and ends in " (deleted)" if the cgroup is gone. */
static int add_membership(struct cgroup_places *places, const struct cgroups *cgroups, char *line)
{
	char *key = strchr(line, ':'), *path = key ? strchr(key + 1, ':') : NULL;
	size_t i;
	int ret;

	if (!path)
		return 0;
	*path++ = '\0';
	path[strcspn(path, "\n")] = '\0';
	for (i = 0; i < cgroups->nr; i++) {
		if (strcmp(cgroups->list[i].key, key + 1) != 0)
			continue;
		/* The mount with the widest view of the hierarchy comes first. */
		ret = cgroup_places_add(places, &cgroups->list[i], path);
		return ret == -ENOENT ? 0 : ret;
	}
	return 0;
}

int cgroup_places_add_process(struct cgroup_places *places, const struct cgroups *cgroups,
			      pid_t pid)
{
	cleanup_free char *line = NULL;
	cleanup_file FILE *file = NULL;
	char path[PATH_MAX];
	size_t room = 0;
	int ret = 0;

	snprintf(path, sizeof(path), "%s/%d/cgroup", cgroups->proc, pid);
	file = fopen(path, "re");
	if (!file)
		return errno == ENOENT ? -ESRCH : -errno;
	while (!ret && getline(&line, &room, file) > 0)
		ret = add_membership(places, cgroups, line);
	return ret;
}
