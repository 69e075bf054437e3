/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_REGULAR_FILE_H
#define BPFPROFIL_REGULAR_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

/*
 * Opens for reading a path that others chose, or whose file they may replace. Only a regular file
 * is opened at all, because opening a fifo may block and opening a device may do anything. Symbolic
 * links stay below root, which is "" or a directory. Returns a descriptor, or -errno: -ENOEXEC if
 * it is no regular file.
 */
int regular_file_open(const char *root, const char *path);

/*
 * Opens with the rights of the user owner, so that it does not open for them what only we, for
 * instance root, may read: then -EACCES. -EPERM if we cannot take on their identity.
 */
int regular_file_open_as(uid_t owner, const char *root, const char *path);

/*
 * The same as regular_file_open() for a name below the directory dir; a symbolic link as its last
 * part is not followed.
 */
int regular_file_open_at(int dir, const char *name);

#endif
