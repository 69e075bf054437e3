/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SOURCE_FILE_H
#define BPFPROFIL_SOURCE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* The text of a source file, by line. */
struct source_file {
	char *text; /* a string for each line, one after the other */
	size_t *lines; /* where these strings begin */
	size_t nr_lines;
	size_t bytes;
	time_t changed;
};

/*
 * Where source files are searched for. Whoever made a program wrote the names of its source files
 * into it, and may have named any file, so a file is shown only if they could have read it
 * themselves.
 */
struct source_search {
	const char *root; /* "", or what comes before the program's path */
	bool contained; /* root is another root directory than ours, so ours is not searched */
	uid_t owner; /* of the program */
	const char *folder; /* chosen by the user, or NULL */
};

/*
 * Reads the file that debug information calls path or, if that does not exist, the longest end of
 * path that exists below the folder. -errno: not found, not a regular file, too large, -ENOMEM;
 * -EACCES: the owner may not read it.
 */
int source_file_read(const char *path, const struct source_search *search,
		     struct source_file *result);

/* Line numbers begin with 1. NULL: the file has no such line. */
const char *source_file_line(const struct source_file *file, uint32_t line);

void source_file_free(struct source_file *file);

#endif
