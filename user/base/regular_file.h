/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_REGULAR_FILE_H
#define BPFPROFIL_REGULAR_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

/*
 * Opens for reading what others chose the path of, or may put in its place: only a regular file is
 * opened at all, for to open a fifo may wait, and to open a device may do anything. Below root, ""
 * or a directory, symbolic links stay below it too. A descriptor, or -errno: -ENOEXEC when there is
 * something else.
 */
int regular_file_open(const char *root, const char *path);

/*
 * As the user owner would: what only we may read, root for instance, is not opened for them. -EACCES
 * then; -EPERM when we cannot take their place.
 */
int regular_file_open_as(uid_t owner, const char *root, const char *path);

/* The same as regular_file_open() of a name below the directory dir; no symbolic link at its end is followed. */
int regular_file_open_at(int dir, const char *name);

#endif
