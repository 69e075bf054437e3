/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PLACE_LINES_H
#define BPFPROFIL_PLACE_LINES_H

#include "export/export.h"
#include "naming/allowance.h"
#include "profile/profile_rows.h"
#include "symbol/symbol.h"

/* Source lines of the rows of a part that is an object; the object's file must be readable. */
struct place_lines {
	struct source_lines *lines; /* for each offset once; NULL: there are no lines */
	size_t next;
	const struct source_line *line; /* the line of the last row */
	char why[EXPORT_NOTE_BYTES]; /* which object was the first without lines, and why, or "" */
	size_t others; /* number of other objects without lines */
	struct allowance allowance;
};

/* Loads the lines of a part, at whose first row the rows are then. Returns 0 or -ENOMEM. */
int place_lines_load(struct place_lines *lines, struct profile_rows *rows);

/*
 * The line of the part's next row; must be called once for each. NULL: DWARF has none. The line is valid
 * until the next load.
 */
const struct source_line *place_lines_next(struct place_lines *lines,
					   const struct profile_row *row);

/* Tells the user which objects have no lines, and frees. */
void place_lines_end(struct place_lines *lines, const struct export_options *options);

#endif
