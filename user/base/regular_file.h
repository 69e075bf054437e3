/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_REGULAR_FILE_H
#define BPFPROFIL_REGULAR_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#define NO_UID ((uid_t)-1)

/* The conditions for opening a file: others may replace it by a link to any other file. */
struct regular_file_rule {
	bool is_owned; /* by root, by that user, or by the user who runs us */
	uid_t user;
	bool is_sized;
	uint64_t size;
	uint64_t inode; /* 0: any */
};

/*
 * Opens a path for reading that others chose, or may replace. Only a regular file that matches the
 * rule is opened: opening a fifo may block, and opening a device or a file of the kernel may have
 * any effect. For example, closing tracefs's free_buffer empties the host's ring buffers. Symbolic
 * links cannot leave root, which is "", a directory, or from opener_root(). rule may be NULL.
 * Returns a descriptor, or -errno. -ENOEXEC: it is not a regular file of a file system that stores
 * files; -EPERM: it does not match the rule.
 */
int regular_file_open(const char *root, const char *path, const struct regular_file_rule *rule);

/* Does the same for the file that place is, opened with O_PATH. */
int regular_file_reopen(int place, const struct regular_file_rule *rule);

/*
 * Opens with the rights of the user owner, so that files which only we may read stay hidden:
 * -EACCES. -EPERM: we cannot use that identity.
 */
int regular_file_open_as(uid_t owner, const char *root, const char *path);

/*
 * Does the same as regular_file_open() below the directory dir. regular_file_open_at() does not
 * follow a symbolic link as last component.
 */
int regular_file_open_at(int dir, const char *name, const struct regular_file_rule *rule);
int regular_file_open_below(int dir, const char *path, const struct regular_file_rule *rule);

/*
 * Opens a file that an option names, for reading. It never waits, as opening a fifo would. NULL:
 * *why is the reason.
 */
FILE *regular_file_stream(const char *path, const char **why);

/*
 * Reads inode, owner, type and size of an open file without contacting the server of a network or
 * FUSE file system, which may never answer. False: they are unknown.
 */
bool regular_file_stat(int fd, struct stat *result);

/* Whether it is the same file, unchanged. */
bool regular_file_is_same(const struct stat *a, const struct stat *b);

/*
 * Whether root, that user or the user who runs us owns the file, so that nobody else's link led to
 * it.
 */
bool regular_file_is_from(const struct stat *stat, uid_t user);

#endif
