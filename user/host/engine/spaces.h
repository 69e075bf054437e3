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
 * What the text that was hit belongs to. Each file is opened when it is first seen, so that a file
 * that is deleted, replaced or in another mount namespace still has its symbols at the end. For a
 * process with anonymous text it is the root directory below which its perf map is.
 */
struct space_info {
	struct space space;
	uint32_t tgid;
	char comm[16];
	char *path; /* path as the process sees it */
	uint64_t owner; /* key of struct owner */
	bool far; /* a user's program may be asked for it, or for what is below its root: see opener.h */
	int fd; /* the file, if it is far only pinned by O_PATH; -1: it was gone before that */
	int root_fd; /* the process's root if it is not ours, else -1 */
	int ns_fd; /* its mount namespace if it is not ours, else -1 */
	uint32_t ns_pid; /* the process's pid in its own namespace */
	uint32_t uid; /* the process's user */
	struct jit_text *jit; /* for anonymous text; NULL: none, or out of memory */
	bool struck; /* its number was taken from it: if it is met again it is announced as a new one */
	bool numbered; /* it has a number in the kernel, or had one a moment ago */
	uint8_t idle; /* takes without a tick; SPACE_IDLE also if nobody is left who had one */
	uint8_t tries; /* how often its file could not be opened; 1 also if it was let go */
};

/* After so many takes without a tick a file is let go. */
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
 * Takes in a record: of a new space, which is then the last one, or of one whose file could not be
 * opened. Only -ENOMEM is a failure, because a file that cannot be opened keeps its name. 1: its file
 * could not be opened, but the next process that maps it may still be there when it is tried.
 */
int spaces_add(struct spaces *spaces, const struct record *record, struct error *err);

/* Whether a descriptor of a file may stay open, as others need some too; and closes the file's own if not. */
bool spaces_may_keep(const struct spaces *spaces, const struct space_info *info, int fd);
void spaces_keep(const struct spaces *spaces, struct space_info *info);

/* NULL: it was never announced. Elements that are not sorted yet are searched first, from the end. */
struct space_info *spaces_find(const struct spaces *spaces, const struct space *space);

/* Makes lookups fast. It changes the indices in the list. */
void spaces_sort(struct spaces *spaces);

/*
 * Closes what is held of a file, and so of its mount and device, or of a process that has ended. A
 * file is opened again when it is told again. False: nothing was held, or the process still runs.
 */
bool space_let_go(struct space_info *info);

/* Whether it is the text of a process that has not ended. */
bool space_runs(const struct space_info *info);

/* Closes and frees what a space holds. */
void space_info_free(struct space_info *info);

/*
 * Opens the perf map of a process with anonymous text, if the process's user, root or we made it.
 * Returns a descriptor for the caller, or -errno. If the text is far it is what opener_answer() reads.
 */
int space_open_perf_map(const struct space_info *info);

/*
 * The same for its jit-PID.dump, which is found while the process runs by the mapping that runtimes
 * make of it for this purpose.
 */
int space_open_jit_dump(const struct space_info *info);

void spaces_free(struct spaces *spaces);

/*
 * Makes the profile_object of a space: its path, and of what is in no file its build id and text. info is NULL if
 * the space was never announced.
 */
int object_describe(const struct space *space, const struct space_info *info,
		    struct profile_object *result, struct error *err);

/*
 * Adds build id and text of a file. Anybody may own it, so it is no failure if it cannot be read; a note about its
 * names says why.
 */
void object_describe_file(int fd, struct profile_object *object);

#endif
