/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_DEBUG_SERVER_H
#define BPFPROFIL_DEBUG_SERVER_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Gets the debug file of a build id, in hexadecimal, from the servers in DEBUGINFOD_URLS. It uses
 * libdebuginfod, which also caches what it fetched. Returns a descriptor that the caller closes, or
 * -errno: also -ENOENT if the variable is not set or the library is not installed. found receives
 * the path, unless it is NULL.
 *
 * The servers learn the build id, and may be slow: all questions together take at most
 * DEBUG_SERVER_SECONDS in each DEBUG_SERVER_SPAN.
 */
int debug_server_open(const char *build_id, char *found, size_t found_size);
enum { DEBUG_SERVER_SECONDS = 30, DEBUG_SERVER_SPAN = 600 };

/*
 * From now on no server is asked, because somebody who profiles others has no right to tell what
 * they run.
 */
void debug_server_forbid(void);

/* While it is quiet no server is asked, as for what nobody has asked to be looked up. */
void debug_server_quiet(bool quiet);

#endif
