/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_LINES_H
#define BPFPROFIL_LINES_H

#include "symbol/line_job.h"

/*
 * The steps of source_lines_load: from places to units, from a unit's rows to lines, and from its
 * DIEs to functions.
 */

int line_units_resolve(struct line_job *job);

/* What the unit calls path, from the root on if that is known. NULL: no memory. */
const char *line_file(struct line_job *job, const char *path);

/* The first place of the unit at or above the address; nr if there is none. */
size_t unit_lower_bound(const struct compile_unit *unit, uint64_t address);

int line_functions_resolve(struct line_job *job);

#endif
