/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CGROUPS_H
#define BPFPROFIL_CGROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * The cgroup file systems that can be seen from here, by mountinfo and not by habit: a container
 * or a private mount namespace has them elsewhere.
 */
struct cgroup_mount {
	char *where; /* the mount point */
	char *root; /* the part of the hierarchy that it shows: "/" is all of it */
	char *key; /* as /proc/PID/cgroup calls the hierarchy: "" is version 2, "cpu,cpuacct" */
	char *controller; /* the first of them; NULL: version 2, or named and without any */
	dev_t dev;
	size_t hierarchy; /* the first mount of the same one */
};

struct cgroups {
	char *proc;
	struct cgroup_mount *list; /* version 2 first; of each hierarchy the widest view first */
	size_t nr;
	size_t capacity;
};

/* A cgroup. The path is as /proc/PID/cgroup has it. */
struct cgroup_place {
	const struct cgroup_mount *mount;
	char *path;
	uint64_t id; /* its directory's inode number */
};

struct cgroup_places {
	struct cgroup_place *list;
	size_t nr;
	size_t capacity;
};

/* proc: where procfs is. A host without cgroups has an empty list. */
int cgroups_read(struct cgroups *cgroups, const char *proc, struct error *err);
void cgroups_free(struct cgroups *cgroups);

bool cgroup_mount_is_v2(const struct cgroup_mount *mount);

/* What to call its hierarchy in messages. */
const char *cgroup_mount_name(const struct cgroup_mount *mount);

/* The directory of a path of the mount's hierarchy, or NULL: not in its view, or no memory. */
char *cgroup_directory(const struct cgroup_mount *mount, const char *path);

/* -ENOENT and nothing added: there is no such cgroup. */
int cgroup_places_add(struct cgroup_places *places, const struct cgroup_mount *mount,
		      const char *path);

/* Adds where path, under a mount, is in each hierarchy. */
int cgroup_places_add_each(struct cgroup_places *places, const struct cgroups *cgroups,
			   const char *path);

/* Adds what directory is, by an absolute path. -ENOENT: there is none; -ENOTDIR: no cgroup. */
int cgroup_places_add_directory(struct cgroup_places *places, const struct cgroups *cgroups,
				const char *directory);

/*
 * Finds every cgroup whose directory's name matches, in the order of their hierarchies and paths,
 * so each before what is below it. What cannot be read is left out.
 */
typedef bool (*cgroup_match)(const char *name, const void *wanted);
int cgroup_places_find(struct cgroup_places *places, const struct cgroups *cgroups,
		       cgroup_match match, const void *wanted, struct error *err);

/* Adds where a process is in each hierarchy. -ESRCH: there is no such process. */
int cgroup_places_add_process(struct cgroup_places *places, const struct cgroups *cgroups,
			      pid_t pid);

/* The place in the same hierarchy, or NULL. */
const struct cgroup_place *cgroup_places_in(const struct cgroup_places *places, size_t hierarchy);

/* Leaves out what keep() is false for. */
void cgroup_places_filter(struct cgroup_places *places,
			  bool (*keep)(const struct cgroup_place *place, const void *argument),
			  const void *argument);

/*
 * A runtime may make directories in a hierarchy and then put nobody there, as older ones do with
 * version 2 on a hybrid host. If anybody is in some of the places, the others go. Returns whether.
 */
bool cgroup_places_keep_populated(struct cgroup_places *places);

void cgroup_places_free(struct cgroup_places *places);

/* The directory is still the cgroup it was. */
bool cgroup_place_is_there(const struct cgroup_place *place);

/* Somebody is in it or below. */
bool cgroup_place_is_populated(const struct cgroup_place *place);

/*
 * The processes in it and below, ascending in each cgroup, until visit() returns other than 0,
 * which is returned. 0 stands for a process that this pid namespace cannot see.
 */
int cgroup_place_each_process(const struct cgroup_place *place,
			      int (*visit)(pid_t pid, void *argument), void *argument);

#endif
