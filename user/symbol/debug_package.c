// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/debug_package.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/regular_file.h"
#include "base/util.h"
#include "symbol/object_file.h"

/* The folder has a list of paths for each package: 991 lists of 8.9 MB took 20 ms of CPU time. */
#define DPKG_LISTS "/var/lib/dpkg/info"
#define SUFFIX ".list"

/* Whether a line of the list is one of the two paths. */
static bool has_path(FILE *list, const char *path, const char *other)
{
	cleanup_free char *line = NULL;
	size_t room = 0;
	ssize_t length;

	while ((length = getline(&line, &room, list)) > 0) {
		if (line[length - 1] == '\n')
			line[length - 1] = '\0';
		if (!strcmp(line, path) || !strcmp(line, other))
			return true;
	}
	return false;
}

/* "libc6:amd64.list" is libc6's; name has room for it. */
static bool package_name(const char *file, char name[PACKAGE_BYTES])
{
	size_t length = strlen(file), end = strcspn(file, ":");

	if (length <= strlen(SUFFIX) || strcmp(file + length - strlen(SUFFIX), SUFFIX) != 0)
		return false;
	if (end == length)
		end -= strlen(SUFFIX);
	return (size_t)snprintf(name, PACKAGE_BYTES, "%.*s", (int)end, file) < PACKAGE_BYTES;
}

bool package_of(const char *lists, const char *path, char name[PACKAGE_BYTES])
{
	/* Packages made before /lib became a link to /usr/lib list their files there. */
	const char *other = strncmp(path, "/usr/", strlen("/usr/")) ? path : path + strlen("/usr");
	cleanup_free char *found = malloc(PACKAGE_BYTES);
	DIR *folder = opendir(lists);
	struct dirent *entry;
	bool good = false;

	while (folder && found && !good && (entry = readdir(folder))) {
		cleanup_file FILE *list = NULL;
		int fd;

		if (!package_name(entry->d_name, found))
			continue;
		fd = regular_file_open_at(dirfd(folder), entry->d_name, NULL);
		list = fd < 0 ? NULL : fdopen(fd, "r");
		good = list && has_path(list, path, other);
	}
	if (folder)
		closedir(folder);
	if (good)
		strcpy(name, found);
	return good;
}

/* Whether a file has these bytes, read in parts that overlap by as many; closes it. */
static bool has_bytes(int file, const char *bytes, size_t length)
{
	enum { PART_BYTES = 1 << 16 };
	cleanup_free char *part = malloc(PART_BYTES);
	cleanup_fd int fd = file;
	size_t kept = 0;
	bool good = false;
	ssize_t got;

	while (part && fd >= 0 && !good && (got = read(fd, part + kept, PART_BYTES - kept)) > 0) {
		kept += (size_t)got;
		good = memmem(part, kept, bytes, length);
		if (kept < length)
			continue;
		memmove(part, part + kept - (length - 1), length - 1);
		kept = length - 1;
	}
	return good;
}

static bool is_list(const char *name)
{
	size_t length = strlen(name), end = strlen("_Packages");

	return length > end && !strcmp(name + length - end, "_Packages");
}

bool package_can_be_had(const char *root, const char *name)
{
	char path[PATH_MAX], cached[PACKAGE_BYTES + 2] = "", listed[PACKAGE_BYTES + 16];
	size_t length = (size_t)snprintf(cached + 1, PACKAGE_BYTES, "%s", name) + 2;
	struct dirent *entry;
	bool good = false;
	DIR *folder;

	/* The cache's strings are between zeros: before each is its length, of two bytes. */
	if (has_bytes(regular_file_open(root, "/var/cache/apt/pkgcache.bin", NULL), cached, length))
		return true;
	snprintf(listed, sizeof(listed), "Package: %s\n", name);
	snprintf(path, sizeof(path), "%s/var/lib/apt/lists", root);
	folder = opendir(path);
	while (folder && !good && (entry = readdir(folder)))
		good = is_list(entry->d_name) &&
		       has_bytes(regular_file_open_at(dirfd(folder), entry->d_name, NULL), listed,
				 strlen(listed));
	if (folder)
		closedir(folder);
	return good;
}

bool debug_package(const struct profile_object *file, char name[PACKAGE_BYTES])
{
	char package[PACKAGE_BYTES], found[PACKAGE_BYTES];
	int fd;

	if (!package_of(DPKG_LISTS, file->path, package))
		return false;
	/* A container has other packages, and their files other build ids. */
	fd = object_file_here(file, NULL);
	if (fd < 0)
		return false;
	close(fd);
	/* glibc's is made by hand and named as such were before 2015. */
	if (!strcmp(package, "libc6"))
		snprintf(found, sizeof(found), "libc6-dbg");
	else
		snprintf(found, sizeof(found), "%.100s-dbgsym", package);
	/* Those of Debian are in an archive of their own, which few hosts have in their sources. */
	if (!package_can_be_had("", found))
		return false;
	strcpy(name, found);
	return true;
}
