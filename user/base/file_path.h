/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_FILE_PATH_H
#define BPFPROFIL_FILE_PATH_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/error.h"

/* Where an output really goes. */
struct file_place {
	int dir; /* O_PATH; -1 when direct */
	char *name; /* in dir, or the whole path when direct */
	int special; /* O_PATH of what is written directly, -1: by its name */
	bool direct; /* no regular file: written as it is, not replaced */
	bool exists;
	bool ours; /* the file that exists, by its owner */
	struct stat stat; /* of the file, when it exists */
};

/* Follows symbolic links to the file that would be replaced. Fills in *ret or fails. */
int file_place_find(const char *path, struct file_place *ret, struct error *err);
/* Opens what is written directly: a descriptor or -errno. */
int file_place_open(const struct file_place *place);

void file_place_free(struct file_place *place);

#endif
