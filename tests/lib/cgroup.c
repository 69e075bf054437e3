// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

/* Whether a comma-separated list contains the word. */
static bool listed(const char *list, const char *word)
{
	size_t length = strlen(word);
	const char *at;

	for (at = strstr(list, word); at; at = strstr(at + 1, word))
		if ((at == list || at[-1] == ',') && strchr(",\n", at[length]))
			return true;
	return false;
}

bool cgroup_mount(const char *controller, char *result, size_t size)
{
	char line[4096], place[256], type[32], options[256];
	FILE *file = fopen("/proc/mounts", "re");
	bool found = false;

	cr_assert(file);
	while (!found && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%*s %255s %31s %255s", place, type, options) != 3)
			continue;
		found = controller ? !strcmp(type, "cgroup") && listed(options, controller) :
				     !strcmp(type, "cgroup2");
	}
	fclose(file);
	if (found)
		snprintf(result, size, "%s", place);
	return found;
}

void cgroup_make(const char *path)
{
	cr_assert(!mkdir(path, 0755), "%s: %s", path, strerror(errno));
}

uint64_t cgroup_number(const char *path)
{
	struct stat st;

	cr_assert(!stat(path, &st), "%s: %s", path, strerror(errno));
	return st.st_ino;
}

static bool write_pid(const char *path, pid_t pid)
{
	char procs[512];
	FILE *file;
	bool good;

	snprintf(procs, sizeof(procs), "%s/cgroup.procs", path);
	file = fopen(procs, "we");
	if (!file)
		return false;
	good = fprintf(file, "%d", pid) > 0;
	return !fclose(file) && good;
}

void cgroup_enter(const char *path, pid_t pid)
{
	cr_assert(write_pid(path, pid), "%s: %s", path, strerror(errno));
}

static void empty(const char *path, const char *parent)
{
	char procs[512];
	FILE *file;
	int pid;

	snprintf(procs, sizeof(procs), "%s/cgroup.procs", path);
	file = fopen(procs, "re");
	while (file && fscanf(file, "%d", &pid) == 1)
		write_pid(parent, pid);
	if (file)
		fclose(file);
}

void cgroup_remove(const char *path)
{
	char parent[512], below[512];
	struct dirent *entry;
	DIR *dir = opendir(path);

	while (dir && (entry = readdir(dir))) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		snprintf(below, sizeof(below), "%s/%s", path, entry->d_name);
		cgroup_remove(below);
	}
	if (dir)
		closedir(dir);
	snprintf(parent, sizeof(parent), "%s", path);
	*strrchr(parent, '/') = '\0';
	empty(path, parent);
	rmdir(path);
}
