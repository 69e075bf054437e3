/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_DEBUG_FILE_H
#define BPFPROFIL_DEBUG_FILE_H

#include <stdbool.h>

#include <elfutils/libdw.h>
#include <libelf.h>

/*
 * The separate debug file of elf, which is open as fd and stands at path below root: by build id, else
 * by .gnu_debuglink, else, unless the file is another user's, from a server. Returns a descriptor that
 * the caller closes, or -errno. found receives its path below root, PATH_MAX bytes; NULL: is not asked
 * for.
 */
int debug_file_open(Elf *elf, int fd, const char *path, const char *root, char *found);

/*
 * The file in which dwz put what several files share, by .gnu_debugaltlink of the one at path below
 * root. Found as above, from a server if may_ask; a descriptor that the caller closes, or -errno.
 */
int shared_file_open(Dwarf *dwarf, const char *path, const char *root, bool may_ask);

#endif
