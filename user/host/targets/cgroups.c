// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/targets/cgroups.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/nearest.h"
#include "base/util.h"

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

/* Reads /proc/cgroups. Each line begins with the name of a controller. */
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
 * Keeps the options of a mount ("rw,xattr,name=systemd", "rw,cpu,cpuacct") that name the hierarchy
 * in /proc/PID/cgroup, in their order.
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

/* False: another mount hides it. */
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
	ret = GROW(cgroups->list, cgroups->capacity, cgroups->nr + 1);
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
	/* Everything below needs absolute paths. */
	if (mount.root[0] != '/' || mount.where[0] != '/') {
		free_mount(&mount);
		return 0;
	}
	mount.dev = makedev(major, minor);
	ret = name_hierarchy(&mount, version[0] == '2' ? options + strlen(options) : options,
			     controllers);
	/* A version 1 hierarchy with neither controller nor name cannot be identified. */
	if (ret || (version[0] != '2' && !*mount.key)) {
		free_mount(&mount);
		return ret;
	}
	return add_mount(cgroups, &mount);
}

/* Until hierarchies are numbered, `hierarchy` is the order of reading. */
DEFINE_COMPARE_AS(compare_mounts, struct cgroup_mount,
		  cgroup_mount_is_v2(b) - cgroup_mount_is_v2(a)		?:
			  compare_u64(strlen(a->root), strlen(b->root)) ?:
			  compare_u64(a->hierarchy, b->hierarchy))

static void number_hierarchies(struct cgroups *cgroups)
{
	size_t i, first;

	SORT(cgroups->list, cgroups->nr, compare_mounts);
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

/*
 * Returns the rest of path after a leading directory, beginning with '/'; NULL: path is not below
 * it.
 */
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

	return rest ? format_text("%s%s", mount->where, strcmp(rest, "/") ? rest : "") : NULL;
}

static int append_place(struct cgroup_places *places, const struct cgroup_mount *mount, char *path,
			uint64_t id)
{
	int ret;

	if (!path)
		return -ENOMEM;
	ret = GROW(places->list, places->capacity, places->nr + 1);
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

/* Adds a directory of a mount. realpath() has removed every way out of the mount. */
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
	/* Of nested mounts, the innermost is visible. */
	for (i = 0; i < cgroups->nr; i++)
		if (behind(real, cgroups->list[i].where) &&
		    (!best || strlen(cgroups->list[i].where) > strlen(best->where)))
			best = &cgroups->list[i];
	if (!best || add_below(places, best, real))
		return -ENOTDIR;
	return 0;
}

const char *cgroup_place_name(const struct cgroup_place *place)
{
	return strrchr(place->path, '/') + 1;
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

/*
 * Parses ID:KEY:PATH. The path may contain colons, and ends in " (deleted)" if the cgroup is gone.
 */
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

/* Kubernetes in a container of a container has some ten levels. Each level needs a descriptor. */
#define DEPTH_MAX 32

struct cgroup_descent {
	/*
	 * A nonzero result ends the walk. dir is the directory of path, whose last component is its
	 * name.
	 */
	int (*visit)(struct cgroup_descent *walk, int dir);
	char path[PATH_MAX]; /* in the hierarchy */
	size_t length;

	/* To find cgroups: */
	struct cgroup_places *places;
	const struct cgroup_mount *mount;
	cgroup_match match;
	const void *wanted;
	/* To find processes: */
	int (*each)(pid_t pid, void *argument);
	void *argument;
};

static int walk_below(struct cgroup_descent *walk, int dir, unsigned int depth);

/*
 * Skips a directory that was removed, or that we may not read. A lack of memory or descriptors is
 * an error.
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

/* Starts at path, without visiting path itself. */
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

DEFINE_COMPARE_AS(compare_cgroup_places, struct cgroup_place,
		  (a->mount > b->mount) - (a->mount < b->mount) ?: strcmp(a->path, b->path))

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
	/* readdir() has no order, but messages should have one. */
	SORT(places->list, places->nr, compare_cgroup_places);
	return 0;
}

int cgroup_places_names(const struct cgroups *cgroups, cgroup_match match,
			const char *(*name)(const struct cgroup_place *place), const char *what,
			struct names *names, struct error *err)
{
	cleanup_places struct cgroup_places places = { 0 };
	int ret = cgroup_places_find(&places, cgroups, match, NULL, err);
	size_t i;

	for (i = 0; !ret && i < places.nr; i++) {
		ret = names_add(names, name(&places.list[i]), SIZE_MAX);
		if (ret)
			error_errno(err, ret, "%s", what);
	}
	return ret;
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

	/* Without memory, assume that the cgroup is unchanged. */
	if (!directory)
		return true;
	/* Assume the same if its directory cannot be checked. A removed one has ENOENT. */
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
	/* Version 1 lacks that file. So does a root, which is never empty. */
	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, "populated ", 10))
			return line[10] == '1';
	return cgroup_place_each_process(place, stop_at_first, NULL) != 0;
}
