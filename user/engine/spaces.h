/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SPACES_H
#define BPFPROFIL_SPACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "shared/abi.h"

struct jit_text;

/*
 * What stands behind the text that was hit: each file opened when it is first seen, so that one
 * that is deleted, replaced or in another mount namespace still has its symbols at the end; of
 * each process with anonymous text the root directory that its perf map lies under.
 */
struct space_info {
	struct space space;
	uint32_t tgid;
	char comm[16];
	char *path; /* as the process sees it */
	int fd; /* the file; -1: gone before it could be opened */
	int root_fd; /* the process's root where it is not ours; else -1 */
	int ns_fd; /* its mount namespace, where it is not ours; else -1 */
	uint32_t ns_pid; /* the process's pid as it knows it */
	uint32_t uid; /* its user */
	struct jit_text *jit; /* of anonymous text; NULL: none, or out of memory */
	bool struck; /* see engine/recycle.h */
};

struct spaces {
	struct space_info *list; /* the first `sorted` of them by their spaces */
	size_t nr;
	size_t capacity;
	size_t sorted;
};

/*
 * The names of a record stand from the file up to the root, each with its NUL: turned round they
 * are the path, which the caller frees. NULL: out of memory.
 */
char *record_path(const struct record *record);

/* Takes in a record. Only -ENOMEM is a failure: a file that cannot be opened keeps its name. */
int spaces_add(struct spaces *spaces, const struct record *record, struct error *err);

/* Before spaces are looked up. Places in the list are others afterwards. */
void spaces_sort(struct spaces *spaces);

/* Closes and frees what belongs to one of them. */
void space_info_free(struct space_info *info);

/* NULL: never announced. */
const struct space_info *spaces_find(const struct spaces *spaces, const struct space *space);

/*
 * The perf map of a process with anonymous text: a descriptor for the caller, or -errno. Only one that
 * the process's user, root or we made.
 */
int space_open_perf_map(const struct space_info *info);

/* The same of its jit-PID.dump, by the mapping of it that runtimes make for this; while it runs. */
int space_open_jit_dump(const struct space_info *info);

void spaces_free(struct spaces *spaces);

#endif
