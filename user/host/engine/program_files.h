/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROGRAM_FILES_H
#define BPFPROFIL_PROGRAM_FILES_H

#include <stddef.h>

/* The files that a command runs first, each mapped here as text. */
struct program_files {
	struct program_file *list;
	size_t nr;
	size_t room;
};

/*
 * Maps COMMAND's program or a script's interpreter, its loader and its libraries, if they are where
 * the loader looks first. Others are announced at their first tick.
 */
void program_files_map(struct program_files *files, const char *command);
void program_files_free(struct program_files *files);

#endif
