// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/object_file.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/regular_file.h"
#include "base/util.h"
#include "elf/elf_image.h"

static int open_path(void *ctx, uint32_t object, char *root, size_t root_size)
{
	const struct path_opener *paths = ctx;
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s%s", paths->root,
			     paths->profile->objects[object].path) >= sizeof(path) ||
	    (size_t)snprintf(root, root_size, "%s", paths->root) >= root_size)
		return -ENAMETOOLONG;
	return regular_file_open("", path, NULL);
}

struct object_opener path_opener(struct path_opener *paths)
{
	return (struct object_opener){ .open = open_path, .ctx = paths };
}

/* Without build ids the segments are compared, because another build hardly has the same ones. */
static bool is_file_of_object(const struct elf_facts *facts, const struct profile_object *object)
{
	size_t i;

	if (facts->build_id && object->build_id)
		return !strcmp(facts->build_id, object->build_id);
	if (facts->build_id || object->build_id || facts->nr_text != object->nr_text)
		return false;
	for (i = 0; i < facts->nr_text; i++) {
		if (facts->text[i].offset != object->text[i].offset ||
		    facts->text[i].address != object->text[i].address ||
		    facts->text[i].size != object->text[i].size)
			return false;
	}
	return true;
}

static int check_file(int fd, const struct profile_object *object, struct error *why)
{
	struct elf_facts facts = { 0 };
	int ret;

	ret = elf_facts_read(fd, &facts, why);
	if (!ret && !is_file_of_object(&facts, object))
		ret = error_set(why, -ESTALE, "%.256s: not the file that was profiled",
				object->path);
	elf_facts_free(&facts);
	return ret;
}

int object_file_open(const struct object_opener *opener, const struct profile_object *object,
		     uint32_t id, char *root, size_t root_size, struct error *why)
{
	int fd, ret;

	*root = '\0';
	fd = opener->open(opener->ctx, id, root, root_size);
	if (fd < 0)
		return error_errno(why, fd, "%.256s", object->path);
	ret = check_file(fd, object, why);
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

static int open_same_file(void *ctx, uint32_t object, char *root, size_t root_size)
{
	struct path_opener *paths = ctx;
	const struct object_opener opener = path_opener(paths);
	struct error ignored;

	return object_file_open(&opener, &paths->profile->objects[object], object, root, root_size,
				&ignored);
}

struct object_opener same_file_opener(struct path_opener *paths)
{
	return (struct object_opener){ .open = open_same_file, .ctx = paths };
}

int object_file_here(const struct profile_object *object, struct error *why)
{
	const struct profile alone = { .objects = (struct profile_object *)object,
				       .nr_objects = 1 };
	struct path_opener here = { .profile = &alone, .root = "" };
	struct object_opener opener = path_opener(&here);
	char root[1];

	return object_file_open(&opener, object, 0, root, sizeof(root), why);
}

/* A host has a few roots for each container; those beyond this number are not looked at. */
#define ROOTS_MAX 256

struct roots {
	struct {
		dev_t device;
		ino_t inode;
	} seen[ROOTS_MAX];
	size_t nr;
};

/* Returns true the first time, as processes of one container have the same root. */
static bool is_new_root(struct roots *roots, const char *path)
{
	struct stat root;
	size_t i;

	if (stat(path, &root) || roots->nr == ROOTS_MAX)
		return false;
	for (i = 0; i < roots->nr; i++)
		if (roots->seen[i].device == root.st_dev && roots->seen[i].inode == root.st_ino)
			return false;
	roots->seen[roots->nr].device = root.st_dev;
	roots->seen[roots->nr++].inode = root.st_ino;
	return true;
}

static bool root_has(const char *root, const struct profile_object *object)
{
	const struct profile alone = { .objects = (struct profile_object *)object,
				       .nr_objects = 1 };
	struct path_opener paths = { &alone, root };
	const struct object_opener opener = path_opener(&paths);
	char opened[PATH_MAX];
	struct error ignored;
	int fd = object_file_open(&opener, object, 0, opened, sizeof(opened), &ignored);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

bool object_file_find_root(const struct profile_object *object, char *root, size_t root_size)
{
	struct roots roots = { .nr = 0 };
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	bool found = false;
	uint64_t pid;

	/* Our own root was looked at before. */
	is_new_root(&roots, "/");
	while (proc && !found && (entry = readdir(proc))) {
		if (parse_u64(entry->d_name, &pid))
			continue;
		snprintf(root, root_size, "/proc/%" PRIu64 "/root", pid);
		found = is_new_root(&roots, root) && root_has(root, object);
	}
	if (proc)
		closedir(proc);
	return found;
}
