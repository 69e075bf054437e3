/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SPLIT_NAMES_H
#define BPFPROFIL_SPLIT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "shared/abi.h"

/*
 * The names of the processes and cgroups of splits, as last announced. They outlive the process or
 * cgroup.
 */
struct split_name {
	uint64_t id;
	size_t order; /* order of arrival */
	char *name; /* the name of a process, or a cgroup's path under its mount */
	uint32_t owner; /* of an announced cgroup: the number of struct owner */
	enum space_state state; /* the decision in the kernel's map */
	bool used; /* it had a tick in the last profile */
	bool dropped; /* the programs announce it again at its next tick */
};

struct split_names {
	struct split_name *list; /* the first `sorted` elements are sorted by id, each id once */
	size_t nr;
	size_t capacity;
	size_t sorted;
	size_t nr_added; /* since the start; an id may be added more than once */
};

/* Owns the name; NULL: out of memory. */
int split_names_add(struct split_names *names, uint64_t id, char *name, struct error *err);

/* Call before names are looked up: the latest name of each id is kept. */
void split_names_sort(struct split_names *names);

/* NULL: it was never announced. */
struct split_name *split_names_find(const struct split_names *names, uint64_t id);

bool split_is_left_out(const struct split_names *names, uint64_t id);

/*
 * Sets a split's cgroup, or else its pid and, if it has a name, its process. -ENOMEM. They are as a
 * file has them, in UTF-8. Otherwise two that look equal there would not be combined before.
 */
int split_names_of(const struct split_names *names, enum split split, uint64_t id, int64_t *pid,
		   char **process, char **cgroup);

/* The space by which the programs announce a cgroup. */
struct space cgroup_space(uint64_t id);

/* The pid in a process's or thread's id; -1: the id stands for all with one name. */
int64_t split_pid(uint64_t id);

/* The id of all with one name, by the name's number. It is unique, because no process has pid 0. */
uint64_t split_sum_id(size_t name);

void split_names_clear(struct split_names *names);
void split_names_free(struct split_names *names);

#endif
