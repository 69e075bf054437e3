/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_DEBUG_FILE_H
#define BPFPROFIL_DEBUG_FILE_H

#include <elfutils/libdw.h>
#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Opens the separate debug file of elf, which is open as fd and is at path below root. It is found
 * by build id, else by .gnu_debuglink, else, unless the file is another user's, from a server.
 * Returns a descriptor that the caller closes, or -errno. found receives its path below root,
 * PATH_MAX bytes, unless it is NULL.
 */
int debug_file_open(Elf *elf, int fd, const char *path, const char *root, char *found);

/*
 * Opens the file in which dwz put what several files share, by .gnu_debugaltlink of the one at path
 * below root, which belongs to owner; from a server only if
 * may_ask. The result is as above.
 */
int shared_file_open(Dwarf *dwarf, const char *path, const char *root, uid_t owner, bool may_ask);

/*
 * Gets the debug file of a build id, in hexadecimal, from the servers in DEBUGINFOD_URLS. It uses
 * libdebuginfod, which also caches what it fetched. Returns a descriptor that the caller closes, or
 * -errno: also -ENOENT if the variable is not set or the library is not installed. found receives
 * the path, unless it is NULL.
 *
 * The servers learn the build id, and may be slow: all questions together take at most
 * DEBUG_SERVER_SECONDS in each DEBUG_SERVER_SPAN.
 */
enum { DEBUG_SERVER_SECONDS = 30, DEBUG_SERVER_SPAN = 600 };

/*
 * From now on no server is asked, because somebody who profiles others has no right to tell what
 * they run.
 */
void debug_server_forbid(void);

/* While it is quiet no server is asked, as for what nobody has asked to be looked up. */
void debug_server_quiet(bool quiet);

#endif
