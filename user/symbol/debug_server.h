/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_DEBUG_SERVER_H
#define BPFPROFIL_DEBUG_SERVER_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Gets the debug file of a build id, in hexadecimal, from the servers in DEBUGINFOD_URLS.
 * libdebuginfod also caches the files. Returns a descriptor that the caller closes, or -errno.
 * -ENOENT also means that the variable is not set, or the library is not installed. found receives
 * the path, unless it is NULL.
 *
 * The servers learn the build id, and may be slow: all requests together take at most
 * DEBUG_SERVER_SECONDS in each DEBUG_SERVER_SPAN.
 */
int debug_server_open(const char *build_id, char *found, size_t found_size);
enum { DEBUG_SERVER_SECONDS = 30, DEBUG_SERVER_SPAN = 600 };

/* Disables servers from here on. Who profiles other users must not reveal what they run. */
void debug_server_forbid(void);

/* While quiet, no server is contacted, as for names that the user did not request. */
void debug_server_quiet(bool quiet);

#endif
