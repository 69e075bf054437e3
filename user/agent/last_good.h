/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_LAST_GOOD_H
#define BPFPROFIL_LAST_GOOD_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/error.h"

/*
 * A copy of the last file of options that worked, beside the spools. An agent uses it if it starts
 * while the file has an error.
 */

/*
 * Copies the file at path to copy, unless it changed since it was read: the new text has not worked
 * yet.
 */
int last_good_keep(const char *path, const struct stat *read_as, const char *copy,
		   struct error *err);

/* Whether the copy exists, and only root or the agent's user can have written it. */
bool last_good_is_ours(const char *copy);

#endif
