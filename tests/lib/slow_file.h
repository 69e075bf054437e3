/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_SLOW_FILE_H
#define TEST_SLOW_FILE_H

#include <sys/types.h>

/*
 * A file of a file system in user space, as any user can mount one: who touches a page of it waits, and
 * no signal helps, until it is served.
 */
struct slow_file {
	char dir[64];
	char path[80];
	pid_t daemon;
	int *serves; /* shared with it */
};

enum { SLOW_FILE_SIZE = 1 << 20 };

void slow_file_begin(struct slow_file *file);

/* What is waited for comes from now on: zeros. */
void slow_file_serve(struct slow_file *file);

/* Who still waits gets an error. */
void slow_file_end(struct slow_file *file);

#endif
