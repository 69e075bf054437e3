/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SPACES_H
#define BPFPROFIL_SPACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/profile.h"
#include "shared/abi.h"

struct jit_text;

/*
 * A file with ticks, or the anonymous text of a process. Each file is opened when it is first seen,
 * so that a file that is deleted, replaced or in another mount namespace still has its symbols at
 * the end. For anonymous text, the root directory is opened below which the process's perf map is.
 */
struct space_info {
	struct space space;
	uint32_t tgid;
	char comm[16];
	char *path; /* path as the process sees it */
	uint64_t owner; /* key of struct owner */
	bool far; /* opening it, or a file below its root, may need a user's program: opener.h */
	int fd; /* the file, an O_PATH descriptor if it is far; -1: it was gone */
	int root_fd; /* the process's root if it is not ours, else -1 */
	int ns_fd; /* its mount namespace if it is not ours, else -1 */
	uint32_t ns_pid; /* the process's pid in its own namespace */
	uint32_t uid; /* the process's user */
	struct jit_text *jit; /* for anonymous text; NULL: none, or out of memory */
	bool dropped; /* it lost its number, and is announced again as a new one */
	bool numbered; /* it has a number in the kernel, or had one until recently */
	uint8_t idle; /* takes without a tick; SPACE_IDLE if all processes with ticks have ended */
	uint8_t tries; /* how often its file could not be opened; 1 also if it was closed */
};

/* A file is closed after this many takes without a tick. */
enum { SPACE_IDLE = 2 };

struct spaces {
	struct space_info *list; /* the first `sorted` elements are sorted by space */
	size_t nr;
	size_t capacity;
	size_t sorted;
};

/*
 * The path of a record, whose names go from the file up to the root, each with its NUL. The caller
 * frees it. NULL: out of memory.
 */
char *record_path(const struct record *record);

/*
 * Adds the space of a record, or tries again to open its file. Only -ENOMEM is a failure, because a
 * file that cannot be opened keeps its name. 1: the file could not be opened; try again when the
 * next process maps it.
 */
int spaces_add(struct spaces *spaces, const struct record *record, struct error *err);

/* Whether a descriptor of a file may stay open. If not, spaces_keep() closes it. */
bool spaces_may_keep(const struct spaces *spaces, const struct space_info *info, int fd);
void spaces_keep(const struct spaces *spaces, struct space_info *info);

/* NULL: it was never announced. Elements that are not sorted yet are searched first, backwards. */
struct space_info *spaces_find(const struct spaces *spaces, const struct space *space);

/* Makes lookups fast. It changes the indices in the list. */
void spaces_sort(struct spaces *spaces);

/*
 * Closes the descriptors of a file, so that its mount can be unmounted, or of a process that has
 * ended. A file is opened again when it is announced again. False: nothing was open, or the process
 * still runs.
 */
bool space_let_go(struct space_info *info);

/* Whether it is the text of a process that has not ended. */
bool space_runs(const struct space_info *info);

/* Closes the descriptors of a space, and frees its memory. */
void space_info_free(struct space_info *info);

/*
 * Opens the perf map of a process with anonymous text, if the process's user, root or we own it.
 * Returns a descriptor for the caller, or -errno. If the text is far, opener_answer() needs the
 * descriptor.
 */
int space_open_perf_map(const struct space_info *info);

/*
 * Does the same for its jit-PID.dump, which runtimes map for this purpose. It is only found while
 * the process runs.
 */
int space_open_jit_dump(const struct space_info *info);

void spaces_free(struct spaces *spaces);

/*
 * Makes the profile_object of a space: its path, and for text without a file also its build id and
 * text. info is NULL if the space was never announced.
 */
int object_describe(const struct space *space, const struct space_info *info,
		    struct profile_object *result, struct error *err);

/*
 * Adds build id and text of a file. Anybody may own it. Therefore it is no failure if the file
 * cannot be read; a note about its names has the reason.
 */
void object_describe_file(int fd, struct profile_object *object);

#endif
