/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_LAST_GOOD_H
#define BPFPROFIL_LAST_GOOD_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/error.h"

/*
 * A copy of the last file of options that worked, beside the spools, for an agent that starts while the
 * file has an error.
 */

/*
 * Copies the file at path to copy, unless it is another one than when it was read: what would be copied
 * then has not worked yet.
 */
int last_good_keep(const char *path, const struct stat *read_as, const char *copy,
		   struct error *err);

/* Whether there is such a copy, and only root or the agent's user can have written it. */
bool last_good_is_ours(const char *copy);

#endif
