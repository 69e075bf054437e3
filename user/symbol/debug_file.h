/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_DEBUG_FILE_H
#define BPFPROFIL_DEBUG_FILE_H

#include <elfutils/libdw.h>
#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "symbol/debug_candidate.h"

/*
 * For a process that must not open files: asks another process to open a candidate, like
 * debug_candidate_open(). NULL: this process opens them itself.
 */
extern int (*debug_file_ask)(enum debug_place place, const char *name, char *found);

/*
 * Opens the separate debug file of elf, which is open as fd and is at path below root. Tries the
 * build id, then .gnu_debuglink, then, unless the file is another user's, a server. Returns a
 * descriptor that the caller closes, or -errno. found receives its path below root, PATH_MAX bytes,
 * unless it is NULL.
 */
int debug_file_open(Elf *elf, int fd, const char *path, const char *root, char *found);

/*
 * Opens the file in which dwz put the common parts of several files, by .gnu_debugaltlink of the
 * one at path below root, which belongs to owner. A server is contacted only if may_ask. The result
 * is as above.
 */
int shared_file_open(Dwarf *dwarf, const char *path, const char *root, uid_t owner, bool may_ask);

#endif
