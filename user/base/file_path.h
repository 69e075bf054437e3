/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_FILE_PATH_H
#define BPFPROFIL_FILE_PATH_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/error.h"

/* Where an output is really written. */
struct file_place {
	int dir; /* O_PATH; -1 when written directly */
	char *name; /* in dir, or the whole path when written directly */
	int special; /* O_PATH of what is written directly; -1: opened by its name */
	bool direct; /* no regular file, so it is written as it is and not replaced */
	bool exists;
	bool ours; /* the existing file belongs to us */
	struct stat stat; /* of the file, if it exists */
};

/* Follows symbolic links to the file that would be replaced. Fills in *result or fails. */
int file_place_find(const char *path, struct file_place *result, struct error *err);
/* Opens a place that is written directly; returns a descriptor or -errno. */
int file_place_open(const struct file_place *place);

void file_place_free(struct file_place *place);

#endif
