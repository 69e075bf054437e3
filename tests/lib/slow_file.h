/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_SLOW_FILE_H
#define TEST_SLOW_FILE_H

#include <sys/types.h>

/*
 * A file in a user-space file system, as any user can mount one: whoever touches a page of it waits
 * until it is served, and no signal helps.
 */
struct slow_file {
	char dir[64];
	char path[80];
	pid_t daemon;
	int *serves; /* shared with the daemon */
};

enum { SLOW_FILE_SIZE = 1 << 20 };

void slow_file_begin(struct slow_file *file);

/* From now on pages are served, filled with zeros. */
void slow_file_serve(struct slow_file *file);

/* Ends the file system; those who still wait get an error. */
void slow_file_end(struct slow_file *file);

#endif
