/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SOURCE_FILE_H
#define BPFPROFIL_SOURCE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* A source file by lines. */
struct source_file {
	char *text; /* a string for each line, one after the other */
	size_t *lines; /* where each line begins */
	size_t nr_lines;
	size_t bytes;
	time_t changed;
};

/*
 * Where to search for source files. A program's author can write any file name into it. Therefore a
 * file is shown only if the program's owner may read it.
 */
struct source_search {
	const char *root; /* "", or the prefix of the program's path */
	bool contained; /* root is not our root directory: do not search that */
	uid_t owner; /* of the program */
	const char *folder; /* given by the user, or NULL */
};

/*
 * Reads the file that debug information calls path. If it does not exist, reads the longest end of
 * path that exists below the folder. -errno: not found, not a regular file, too large, -ENOMEM;
 * -EACCES: the owner may not read it.
 */
int source_file_read(const char *path, const struct source_search *search,
		     struct source_file *result);

/* Line numbers begin with 1. NULL: there is no such line. */
const char *source_file_line(const struct source_file *file, uint32_t line);

void source_file_free(struct source_file *file);

#endif
