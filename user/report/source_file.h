/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SOURCE_FILE_H
#define BPFPROFIL_SOURCE_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* The text of a source file, by line. */
struct source_file {
	char *text; /* a string for each line, one behind the other */
	size_t *lines; /* where they begin */
	size_t nr_lines;
	time_t changed;
};

/*
 * Reads the file that debug information calls path; where it is not there, the longest end of path
 * that is below folder (NULL: none). -errno: not found, no regular file, too large, -ENOMEM.
 */
int source_file_read(const char *path, const char *folder, struct source_file *ret);

/* Line numbers begin with 1; NULL: the file has no such line. */
const char *source_file_line(const struct source_file *file, uint32_t line);

void source_file_free(struct source_file *file);

#endif
