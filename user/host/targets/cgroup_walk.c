// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "host/targets/cgroups.h"

/* Kubernetes in a container of a container has some ten levels. Each level holds a descriptor. */
#define DEPTH_MAX 32

struct cgroup_descent {
	/*
	 * A nonzero result ends the walk. dir is the directory of path, whose last part is its
	 * name.
	 */
	int (*visit)(struct cgroup_descent *walk, int dir);
	char path[PATH_MAX]; /* in the hierarchy */
	size_t length;

	/* For finding cgroups: */
	struct cgroup_places *places;
	const struct cgroup_mount *mount;
	cgroup_match match;
	const void *wanted;
	/* For processes: */
	int (*each)(pid_t pid, void *argument);
	void *argument;
};

static int walk_below(struct cgroup_descent *walk, int dir, unsigned int depth);

/*
 * A directory that was removed or that we may not read is skipped, but not one that fails for lack
 * of memory or descriptors.
 */
static int trouble(void)
{
	return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -errno : 0;
}

static int walk_into(struct cgroup_descent *walk, int dir, const char *name, unsigned int depth)
{
	size_t before = walk->length, length = strlen(name);
	int fd, ret;

	if (before + length + 2 > sizeof(walk->path))
		return 0;
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return trouble();
	if (before > 1)
		walk->path[walk->length++] = '/';
	memcpy(walk->path + walk->length, name, length + 1);
	walk->length += length;
	ret = walk->visit(walk, fd);
	if (!ret && depth < DEPTH_MAX)
		ret = walk_below(walk, fd, depth + 1);
	walk->length = before;
	walk->path[before] = '\0';
	close(fd);
	return ret;
}

static int walk_below(struct cgroup_descent *walk, int dir, unsigned int depth)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), ret = 0;
	DIR *entries = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!entries) {
		ret = trouble();
		if (fd >= 0)
			close(fd);
		return ret;
	}
	while (!ret && (entry = readdir(entries)))
		if (entry->d_type == DT_DIR && strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0)
			ret = walk_into(walk, dir, entry->d_name, depth);
	closedir(entries);
	return ret;
}

/* Begins at path, without visiting path itself. */
static int walk_from(struct cgroup_descent *walk, const struct cgroup_mount *mount,
		     const char *path)
{
	cleanup_free char *directory = cgroup_directory(mount, path);
	cleanup_fd int dir = -1;

	if (!directory)
		return 0;
	dir = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return trouble();
	walk->mount = mount;
	walk->length = strlen(path);
	if (walk->length >= sizeof(walk->path))
		return 0;
	memcpy(walk->path, path, walk->length + 1);
	return walk_below(walk, dir, 0);
}

static int visit_match(struct cgroup_descent *walk, int dir)
{
	const char *name = strrchr(walk->path, '/') + 1;
	int ret;

	(void)dir;
	if (walk->match && !walk->match(name, walk->wanted))
		return 0;
	ret = cgroup_places_add(walk->places, walk->mount, walk->path);
	return ret == -ENOENT || ret == -EACCES ? 0 : ret;
}

static int compare_cgroup_places(const void *left, const void *right)
{
	const struct cgroup_place *a = left, *b = right;

	if (a->mount != b->mount)
		return a->mount < b->mount ? -1 : 1;
	return strcmp(a->path, b->path);
}

int cgroup_places_find(struct cgroup_places *places, const struct cgroups *cgroups,
		       cgroup_match match, const void *wanted, struct error *err)
{
	struct cgroup_descent walk = { .visit = visit_match,
				       .places = places,
				       .match = match,
				       .wanted = wanted };
	size_t i;
	int ret;

	for (i = 0; i < cgroups->nr; i++) {
		if (cgroups->list[i].hierarchy != i)
			continue;
		ret = walk_from(&walk, &cgroups->list[i], cgroups->list[i].root);
		if (ret)
			return error_errno(err, ret, "%s", cgroups->list[i].where);
	}
	/* readdir() returns no particular order, but messages about the places should have one. */
	if (places->nr)
		qsort(places->list, places->nr, sizeof(*places->list), compare_cgroup_places);
	return 0;
}

static int visit_processes(struct cgroup_descent *walk, int dir)
{
	int fd = openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC), ret = 0;
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	int pid;

	if (!file) {
		ret = trouble();
		if (fd >= 0)
			close(fd);
		return ret;
	}
	while (!ret && fscanf(file, "%d", &pid) == 1)
		ret = walk->each(pid, walk->argument);
	fclose(file);
	return ret;
}

int cgroup_place_each_process(const struct cgroup_place *place,
			      int (*visit)(pid_t pid, void *argument), void *argument)
{
	struct cgroup_descent walk = { .visit = visit_processes,
				       .each = visit,
				       .argument = argument };
	cleanup_free char *directory = cgroup_directory(place->mount, place->path);
	cleanup_fd int dir = directory ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	int ret;

	if (dir < 0)
		return directory ? trouble() : -ENOMEM;
	ret = visit_processes(&walk, dir);
	return ret ? ret : walk_from(&walk, place->mount, place->path);
}

bool cgroup_place_is_there(const struct cgroup_place *place)
{
	cleanup_free char *directory = cgroup_directory(place->mount, place->path);
	struct stat status;

	/* Without memory nothing is known, so the cgroup is assumed to be unchanged. */
	if (!directory)
		return true;
	/* Nor is it known where its directory could not be looked at; one that is gone has ENOENT. */
	if (stat(directory, &status))
		return errno != ENOENT && errno != ENOTDIR && errno != ENODEV;
	return status.st_ino == place->id;
}

static int stop_at_first(pid_t pid, void *argument)
{
	(void)pid;
	(void)argument;
	return 1;
}

bool cgroup_place_is_populated(const struct cgroup_place *place)
{
	cleanup_free char *directory = cgroup_directory(place->mount, place->path);
	cleanup_file FILE *file = NULL;
	char path[PATH_MAX], line[64];

	if (!directory)
		return true;
	snprintf(path, sizeof(path), "%s/cgroup.events", directory);
	file = fopen(path, "re");
	/* Version 1 does not have that file, nor has a root, which is never empty. */
	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, "populated ", 10))
			return line[10] == '1';
	return cgroup_place_each_process(place, stop_at_first, NULL) != 0;
}
