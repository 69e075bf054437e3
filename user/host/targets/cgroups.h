/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CGROUPS_H
#define BPFPROFIL_CGROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * The visible cgroup file systems, from mountinfo: in a container or a private mount namespace,
 * they are not at their usual paths.
 */
struct cgroup_mount {
	char *where; /* the mount point */
	char *root; /* the visible part of the hierarchy; "/": all of it */
	char *key; /* its name in /proc/PID/cgroup: "" is version 2, "cpu,cpuacct" */
	char *controller; /* the first controller; NULL: version 2, or there is none */
	dev_t dev;
	size_t hierarchy; /* index of the first mount of the hierarchy */
};

struct cgroups {
	char *proc;
	struct cgroup_mount *list; /* version 2 first; in a hierarchy, the widest view first */
	size_t nr;
	size_t capacity;
};

/* A cgroup, with its path as in /proc/PID/cgroup. */
struct cgroup_place {
	const struct cgroup_mount *mount;
	char *path;
	uint64_t id; /* inode number of its directory */
};

struct cgroup_places {
	struct cgroup_place *list;
	size_t nr;
	size_t capacity;
};

/* proc is the mount point of procfs. Without cgroups the list is empty. */
int cgroups_read(struct cgroups *cgroups, const char *proc, struct error *err);
void cgroups_free(struct cgroups *cgroups);

bool cgroup_mount_is_v2(const struct cgroup_mount *mount);

/* The name of its hierarchy, for messages. */
const char *cgroup_mount_name(const struct cgroup_mount *mount);

/*
 * Returns the directory of a path in the mount's hierarchy; NULL: it is not visible there, or there
 * is no memory.
 */
char *cgroup_directory(const struct cgroup_mount *mount, const char *path);

/* -ENOENT: there is no such cgroup, and nothing was added. */
int cgroup_places_add(struct cgroup_places *places, const struct cgroup_mount *mount,
		      const char *path);

/* Adds path, relative to a mount, in each hierarchy that has it. */
int cgroup_places_add_each(struct cgroup_places *places, const struct cgroups *cgroups,
			   const char *path);

/*
 * Adds the cgroup of a directory, given by an absolute path. -ENOENT: it does not exist; -ENOTDIR:
 * it is not a cgroup.
 */
int cgroup_places_add_directory(struct cgroup_places *places, const struct cgroups *cgroups,
				const char *directory);

/*
 * Adds each cgroup whose directory name matches, or with NULL all, sorted by hierarchy and path, so
 * that parents come first. Skips what cannot be read.
 */
typedef bool (*cgroup_match)(const char *name, const void *wanted);
int cgroup_places_find(struct cgroup_places *places, const struct cgroups *cgroups,
		       cgroup_match match, const void *wanted, struct error *err);

/* Adds name() of each such cgroup; `what` is for messages. */
struct names;
int cgroup_places_names(const struct cgroups *cgroups, cgroup_match match,
			const char *(*name)(const struct cgroup_place *place), const char *what,
			struct names *names, struct error *err);

/* Adds the cgroup of a process in each hierarchy. -ESRCH: there is no such process. */
int cgroup_places_add_process(struct cgroup_places *places, const struct cgroups *cgroups,
			      pid_t pid);

const char *cgroup_place_name(const struct cgroup_place *place);

/* The place in this hierarchy; NULL: none. */
const struct cgroup_place *cgroup_places_in(const struct cgroup_places *places, size_t hierarchy);

/* Removes places for which keep() returns false. */
void cgroup_places_filter(struct cgroup_places *places,
			  bool (*keep)(const struct cgroup_place *place, const void *argument),
			  const void *argument);

/*
 * If any place is populated, removes the others, and returns true. A runtime may create a directory
 * in a hierarchy and leave it empty, as older ones do with version 2 on a hybrid host.
 */
bool cgroup_places_keep_populated(struct cgroup_places *places);

void cgroup_places_free(struct cgroup_places *places);
#define cleanup_places __attribute__((cleanup(cgroup_places_free)))

/* Whether the directory is still the same cgroup. */
bool cgroup_place_is_there(const struct cgroup_place *place);

/* Whether there is a process in it or below it. */
bool cgroup_place_is_populated(const struct cgroup_place *place);

/*
 * Calls visit() for each process in it and below, ascending in each cgroup, until it returns
 * nonzero, which is returned. pid 0 means a process that this pid namespace cannot see.
 */
int cgroup_place_each_process(const struct cgroup_place *place,
			      int (*visit)(pid_t pid, void *argument), void *argument);

#endif
