// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/util.h"
#include "host/targets/cgroups.h"

/* mountinfo writes blanks, newlines and backslashes as \NNN. */
static void unescape(char *text)
{
	char *to = text;

	while (*text) {
		if (text[0] == '\\' && text[1] >= '0' && text[1] <= '3' && text[2] >= '0' &&
		    text[2] <= '7' && text[3] >= '0' && text[3] <= '7') {
			*to++ = (char)((text[1] - '0') << 6 | (text[2] - '0') << 3 |
				       (text[3] - '0'));
			text += 4;
		} else {
			*to++ = *text++;
		}
	}
	*to = '\0';
}

/* Reads /proc/cgroups, where each line begins with the name of a controller. */
static char *read_controllers(const char *proc)
{
	char path[PATH_MAX], *text = NULL;
	cleanup_file FILE *file = NULL;
	size_t room = 0;

	snprintf(path, sizeof(path), "%s/cgroups", proc);
	file = fopen(path, "re");
	if (!file || getdelim(&text, &room, '\0', file) < 0) {
		free(text);
		return NULL;
	}
	return text;
}

static bool is_controller(const char *controllers, const char *word)
{
	const char *line = controllers;
	size_t length = strlen(word);

	while (line && length) {
		if (!strncmp(line, word, length) && line[length] == '\t')
			return true;
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return false;
}

/*
 * Keeps those of a mount's options ("rw,xattr,name=systemd", "rw,cpu,cpuacct") by which
 * /proc/PID/cgroup names the hierarchy, in the same order.
 */
static int name_hierarchy(struct cgroup_mount *mount, char *options, const char *controllers)
{
	char *key, *word, *rest = options;

	key = calloc(1, strlen(options) + 1);
	if (!key)
		return -ENOMEM;
	mount->key = key;
	while ((word = strsep(&rest, ","))) {
		bool controller = is_controller(controllers, word);

		if (!controller && strncmp(word, "name=", 5) != 0)
			continue;
		if (controller && !mount->controller) {
			mount->controller = strdup(word);
			if (!mount->controller)
				return -ENOMEM;
		}
		key += sprintf(key, "%s%s", key > mount->key ? "," : "", word);
	}
	return 0;
}

/* False if another mount lies over it. */
static bool can_be_seen(const struct cgroup_mount *mount)
{
	struct stat status;

	return !stat(mount->where, &status) && status.st_dev == mount->dev;
}

static void free_mount(struct cgroup_mount *mount)
{
	free(mount->where);
	free(mount->root);
	free(mount->key);
	free(mount->controller);
}

static int add_mount(struct cgroups *cgroups, struct cgroup_mount *mount)
{
	int ret;

	if (!can_be_seen(mount)) {
		free_mount(mount);
		return 0;
	}
	ret = grow((void **)&cgroups->list, &cgroups->capacity, cgroups->nr + 1,
		   sizeof(*cgroups->list));
	if (ret) {
		free_mount(mount);
		return ret;
	}
	mount->hierarchy = cgroups->nr;
	cgroups->list[cgroups->nr++] = *mount;
	return 0;
}

/* ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [TAG...] - TYPE SOURCE SUPER-OPTIONS */
static int read_mount_line(struct cgroups *cgroups, const char *line, const char *controllers)
{
	const char *behind = strstr(line, " - cgroup");
	cleanup_free char *options = NULL;
	struct cgroup_mount mount = { 0 };
	unsigned int major, minor;
	char version[2];
	int ret;

	if (!behind || sscanf(behind, " - cgroup%1[2 ]%*s %ms", version, &options) != 2)
		return 0;
	if (sscanf(line, "%*s %*s %u:%u %ms %ms", &major, &minor, &mount.root, &mount.where) != 4) {
		free_mount(&mount);
		return 0;
	}
	unescape(mount.root);
	unescape(mount.where);
	/* All that follows relies on absolute paths. */
	if (mount.root[0] != '/' || mount.where[0] != '/') {
		free_mount(&mount);
		return 0;
	}
	mount.dev = makedev(major, minor);
	ret = name_hierarchy(&mount, version[0] == '2' ? options + strlen(options) : options,
			     controllers);
	/* A version 1 hierarchy with neither controller nor name cannot be told from others. */
	if (ret || (version[0] != '2' && !*mount.key)) {
		free_mount(&mount);
		return ret;
	}
	return add_mount(cgroups, &mount);
}

static int compare_mounts(const void *left, const void *right)
{
	const struct cgroup_mount *a = left, *b = right;
	bool v2 = cgroup_mount_is_v2(a);

	if (v2 != cgroup_mount_is_v2(b))
		return v2 ? -1 : 1;
	if (strlen(a->root) != strlen(b->root))
		return strlen(a->root) < strlen(b->root) ? -1 : 1;
	/*
	 * Before hierarchies are numbered, `hierarchy` holds the order in which the mounts were
	 * read.
	 */
	return a->hierarchy < b->hierarchy ? -1 : 1;
}

static void number_hierarchies(struct cgroups *cgroups)
{
	size_t i, first;

	if (cgroups->nr)
		qsort(cgroups->list, cgroups->nr, sizeof(*cgroups->list), compare_mounts);
	for (i = 0; i < cgroups->nr; i++) {
		for (first = 0; strcmp(cgroups->list[first].key, cgroups->list[i].key) != 0;)
			first++;
		cgroups->list[i].hierarchy = first;
	}
}

int cgroups_read(struct cgroups *cgroups, const char *proc, struct error *err)
{
	cleanup_free char *controllers = NULL, *line = NULL;
	cleanup_file FILE *file = NULL;
	char path[PATH_MAX];
	size_t room = 0;
	int ret = 0;

	*cgroups = (struct cgroups){ .proc = strdup(proc) };
	if (!cgroups->proc)
		return error_errno(err, -ENOMEM, "cgroups");
	snprintf(path, sizeof(path), "%s/self/mountinfo", proc);
	file = fopen(path, "re");
	if (!file) {
		ret = error_errno(err, -errno, "%s", path);
		cgroups_free(cgroups);
		return ret;
	}
	controllers = read_controllers(proc);
	while (!ret && getline(&line, &room, file) > 0)
		ret = read_mount_line(cgroups, line, controllers);
	if (ret) {
		cgroups_free(cgroups);
		return error_errno(err, ret, "%s", path);
	}
	number_hierarchies(cgroups);
	return 0;
}

void cgroups_free(struct cgroups *cgroups)
{
	size_t i;

	for (i = 0; i < cgroups->nr; i++)
		free_mount(&cgroups->list[i]);
	free(cgroups->list);
	free(cgroups->proc);
	*cgroups = (struct cgroups){ 0 };
}

bool cgroup_mount_is_v2(const struct cgroup_mount *mount)
{
	return !*mount->key;
}

const char *cgroup_mount_name(const struct cgroup_mount *mount)
{
	return cgroup_mount_is_v2(mount) ? "version 2" : mount->key;
}
