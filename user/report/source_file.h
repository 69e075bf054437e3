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
	char *text; /* a string for each line, one behind the other */
	size_t *lines; /* where they begin */
	size_t nr_lines;
	size_t bytes;
	time_t changed;
};

/*
 * Where source files are looked for. Whoever made a program wrote into it what they are called: that
 * may be any file, and it is shown only if they could have read it themselves.
 */
struct source_search {
	const char *root; /* "", or what the program's path stands below */
	bool contained; /* which is another root directory than ours: nothing is looked for in ours */
	uid_t owner; /* of the program */
	const char *folder; /* the user's choice, or NULL */
};

/*
 * Reads the file that debug information calls path; where it is not there, the longest end of path
 * that is below the folder. -errno: not found, no regular file, too large, -ENOMEM; -EACCES: not for
 * the owner to read.
 */
int source_file_read(const char *path, const struct source_search *search, struct source_file *ret);

/* Line numbers begin with 1; NULL: the file has no such line. */
const char *source_file_line(const struct source_file *file, uint32_t line);

void source_file_free(struct source_file *file);

#endif
