/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_DEBUG_CANDIDATE_H
#define BPFPROFIL_DEBUG_CANDIDATE_H

#include <stdbool.h>
#include <sys/types.h>

/* Where a file with more debug information may be, and what a name says there. */
enum debug_place {
	DEBUG_BY_ID, /* /usr/lib/debug/.build-id below the file's root; a build id, in hexadecimal */
	DEBUG_BY_ID_OF_HOST, /* the same on this host, and root's only */
	DEBUG_BESIDE, /* the folder of the file; a plain name */
	DEBUG_BELOW, /* .debug in that folder */
	DEBUG_OF_FOLDER, /* that folder's own below /usr/lib/debug */
	DEBUG_AT_PATH, /* a path from the root on, or from the folder of the file that was opened last */
	DEBUG_OF_SERVER, /* a server; a build id */
};

/* The file that names others: where it is, below which root, and whose it is. */
struct debug_origin {
	const char *path;
	const char *root;
	uid_t owner;
	bool may_ask; /* a server may be asked, which learns what somebody runs */
};

/*
 * Opens a candidate for reading. The name may come from anybody: only a file of root, of the origin's owner or of
 * our user is opened, and only an ELF file that is no core dump, as these hold what was in memory. Returns a
 * descriptor, or -errno. found receives the path below root, PATH_MAX bytes, unless it is NULL.
 */
int debug_candidate_open(const struct debug_origin *origin, enum debug_place place,
			 const char *name, char *found);

#endif
