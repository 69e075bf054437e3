/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_DEBUG_CANDIDATE_H
#define BPFPROFIL_DEBUG_CANDIDATE_H

#include <stdbool.h>
#include <sys/types.h>

/* Places for a file with more debug information, and the meaning of a name there. */
enum debug_place {
	DEBUG_BY_ID, /* /usr/lib/debug/.build-id below the file's root; a build id in hexadecimal */
	DEBUG_BY_ID_OF_HOST, /* the same on this host, if it belongs to root */
	DEBUG_BESIDE, /* the folder of the file; a plain name */
	DEBUG_BELOW, /* .debug in that folder */
	DEBUG_OF_FOLDER, /* that folder's own below /usr/lib/debug */
	DEBUG_AT_PATH, /* a path below the root, or relative to the last opened file */
	DEBUG_OF_SERVER, /* from a server; a build id */
};

/* The file that names a candidate: its path, root and owner. */
struct debug_origin {
	const char *path;
	const char *root;
	uid_t owner;
	bool may_ask; /* a server may be contacted, and thus learn what the user runs */
};

/*
 * Opens a candidate for reading. Anybody may have chosen the name. Therefore only files of root, of
 * the origin's owner or of our user are opened, and only ELF files, but no core dumps, which
 * contain memory. Returns a descriptor, or -errno. found receives the path below root, PATH_MAX
 * bytes, unless it is NULL.
 */
int debug_candidate_open(const struct debug_origin *origin, enum debug_place place,
			 const char *name, char *found);

#endif
