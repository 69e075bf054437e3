/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_DEBUG_SERVER_H
#define BPFPROFIL_DEBUG_SERVER_H

#include <stddef.h>

/*
 * The debug file of a build id, in hexadecimal, from the servers that DEBUGINFOD_URLS names, by way of
 * libdebuginfod, which also keeps what it fetched. A descriptor that the caller closes, or -errno:
 * -ENOENT also where that is not set or the library is not there. found gets its path, or is NULL.
 *
 * The servers learn of the build id, and may be slow: of all questions together, no more than
 * DEBUG_SERVER_SECONDS in each DEBUG_SERVER_SPAN.
 */
enum { DEBUG_SERVER_SECONDS = 30, DEBUG_SERVER_SPAN = 600 };

int debug_server_open(const char *build_id, char *found, size_t found_size);

/* From now on nobody is asked: who profiles others has no right to tell what they run. */
void debug_server_forbid(void);

#endif
