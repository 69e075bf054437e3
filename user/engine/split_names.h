/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SPLIT_NAMES_H
#define BPFPROFIL_SPLIT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "shared/abi.h"

/*
 * The processes and cgroups that ticks were told apart by: their names as of when they were last
 * told, so that one that is gone has its own.
 */
struct split_name {
	uint64_t id;
	size_t order; /* of arrival */
	char *name; /* what a process is called; a cgroup's path under its mount */
	bool struck; /* see engine/recycle.h */
};

struct split_names {
	struct split_name *list; /* the first `sorted` of them by id, each id once */
	size_t nr;
	size_t capacity;
	size_t sorted;
	size_t arrived;
};

/* Takes in a record of a process or a cgroup. */
int split_names_add(struct split_names *names, const struct record *record, struct error *err);

/* Before names are looked up: of a process that was told twice the later name stays. */
void split_names_sort(struct split_names *names);

/* NULL: never told. */
const char *split_names_find(const struct split_names *names, uint64_t id);

/* A cgroup's, or what stands for it when it was never told; NULL: out of memory. */
char *split_cgroup_name(const struct split_names *names, uint64_t id);

/* What the programs note a process or a cgroup as. */
struct space split_space(enum split split, uint64_t id);

/* The pid in a process's id. */
int64_t split_pid(uint64_t id);

void split_names_free(struct split_names *names);

#endif
