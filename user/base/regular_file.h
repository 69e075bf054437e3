/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_REGULAR_FILE_H
#define BPFPROFIL_REGULAR_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#define NO_UID ((uid_t)-1)

/* What a file must be before it is opened, as others may put a link to any other in its place. */
struct regular_file_rule {
	bool is_owned; /* by root, by that user, or by the one who runs us */
	uid_t user;
	bool is_sized;
	uint64_t size;
	uint64_t inode; /* 0: any */
};

/*
 * Opens for reading a path that others chose, or whose file they may replace. Only a regular file
 * that keeps its rule is opened at all, because opening a fifo may block, and opening a device or a
 * file of the kernel's own file systems may do anything: closing tracefs's free_buffer empties the
 * host's ring buffers. Symbolic links stay below root, which is "", a directory, or what opener_root()
 * made of one. rule may be NULL. Returns a descriptor, or -errno: -ENOEXEC if it is no regular file of a file system that
 * stores files, -EPERM if the rule forbids it.
 */
int regular_file_open(const char *root, const char *path, const struct regular_file_rule *rule);

/* The same for a file that was opened with O_PATH as place, and can be none but this one. */
int regular_file_reopen(int place, const struct regular_file_rule *rule);

/*
 * Opens with the rights of the user owner, so that it does not open for them what only we, for
 * instance root, may read: then -EACCES. -EPERM if we cannot take on their identity.
 */
int regular_file_open_as(uid_t owner, const char *root, const char *path);

/*
 * The same as regular_file_open() for a path below the directory dir. In regular_file_open_at() a symbolic
 * link as its last part is not followed.
 */
int regular_file_open_at(int dir, const char *name, const struct regular_file_rule *rule);
int regular_file_open_below(int dir, const char *path, const struct regular_file_rule *rule);

/*
 * For files that options name: opens one for reading without waiting, as opening a fifo would. NULL: *why
 * says why not.
 */
FILE *regular_file_stream(const char *path, const char **why);

/*
 * What is known of an open file without asking the server of a network or FUSE file system, which may never
 * answer: number, owner, kind and size. False: nothing.
 */
bool regular_file_stat(int fd, struct stat *result);

/* Whether it is the same file, and nobody has written to it between the two. */
bool regular_file_is_same(const struct stat *a, const struct stat *b);

/* Whether root, that user or the one who runs us owns the file: nobody else's link led to it. */
bool regular_file_is_from(const struct stat *stat, uid_t user);

#endif
