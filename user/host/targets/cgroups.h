/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CGROUPS_H
#define BPFPROFIL_CGROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * The cgroup file systems that are visible here, from mountinfo rather than at their usual paths,
 * because in a container or a private mount namespace they are elsewhere.
 */
struct cgroup_mount {
	char *where; /* the mount point */
	char *root; /* the part of the hierarchy that it shows; "/" is all of it */
	char *key; /* as /proc/PID/cgroup names the hierarchy: "" is version 2, "cpu,cpuacct" */
	char *controller; /* the first controller; NULL: version 2, or named and without any */
	dev_t dev;
	size_t hierarchy; /* number of its hierarchy: the index of the first mount of it */
};

struct cgroups {
	char *proc;
	struct cgroup_mount *list; /* version 2 first; for each hierarchy the widest view first */
	size_t nr;
	size_t capacity;
};

/* A cgroup. The path is as in /proc/PID/cgroup. */
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

/* proc is where procfs is mounted. A host without cgroups has an empty list. */
int cgroups_read(struct cgroups *cgroups, const char *proc, struct error *err);
void cgroups_free(struct cgroups *cgroups);

bool cgroup_mount_is_v2(const struct cgroup_mount *mount);

/* The name of its hierarchy for messages. */
const char *cgroup_mount_name(const struct cgroup_mount *mount);

/*
 * The directory of a path in the mount's hierarchy, or NULL: it is not in the mount's view, or
 * there is no memory.
 */
char *cgroup_directory(const struct cgroup_mount *mount, const char *path);

/* -ENOENT, with nothing added: there is no such cgroup. */
int cgroup_places_add(struct cgroup_places *places, const struct cgroup_mount *mount,
		      const char *path);

/* Adds path, as under a mount, in each hierarchy that has it. */
int cgroup_places_add_each(struct cgroup_places *places, const struct cgroups *cgroups,
			   const char *path);

/*
 * Adds the cgroup of a directory, given by an absolute path. -ENOENT: it does not exist; -ENOTDIR:
 * it is not a cgroup.
 */
int cgroup_places_add_directory(struct cgroup_places *places, const struct cgroups *cgroups,
				const char *directory);

/*
 * Adds every cgroup whose directory's name matches, or with NULL every one, sorted by hierarchy and
 * path, so that each comes before those below it. What cannot be read is skipped.
 */
typedef bool (*cgroup_match)(const char *name, const void *wanted);
int cgroup_places_find(struct cgroup_places *places, const struct cgroups *cgroups,
		       cgroup_match match, const void *wanted, struct error *err);

/* Adds name() of each such cgroup; what these are is for messages. */
struct names;
int cgroup_places_names(const struct cgroups *cgroups, cgroup_match match,
			const char *(*name)(const struct cgroup_place *place), const char *what,
			struct names *names, struct error *err);

/* Adds the cgroup of a process in each hierarchy. -ESRCH: there is no such process. */
int cgroup_places_add_process(struct cgroup_places *places, const struct cgroups *cgroups,
			      pid_t pid);

/* The last component of its path. */
const char *cgroup_place_name(const struct cgroup_place *place);

/* The place in this hierarchy, or NULL. */
const struct cgroup_place *cgroup_places_in(const struct cgroup_places *places, size_t hierarchy);

/* Removes the places for which keep() is false. */
void cgroup_places_filter(struct cgroup_places *places,
			  bool (*keep)(const struct cgroup_place *place, const void *argument),
			  const void *argument);

/*
 * If any of the places is populated, removes those that are not, and returns whether any was. A
 * runtime may make a directory in a hierarchy and put nobody there, as older ones do with version 2
 * on a hybrid host.
 */
bool cgroup_places_keep_populated(struct cgroup_places *places);

void cgroup_places_free(struct cgroup_places *places);

/* Whether the directory is still the same cgroup. */
bool cgroup_place_is_there(const struct cgroup_place *place);

/* Whether a process is in it or below it. */
bool cgroup_place_is_populated(const struct cgroup_place *place);

/*
 * Calls visit() for the processes in it and below, ascending in each cgroup, until it returns
 * nonzero, which is returned. pid 0 stands for a process that this pid namespace cannot see.
 */
int cgroup_place_each_process(const struct cgroup_place *place,
			      int (*visit)(pid_t pid, void *argument), void *argument);

#endif
