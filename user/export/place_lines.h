/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PLACE_LINES_H
#define BPFPROFIL_PLACE_LINES_H

#include "export/export.h"
#include "naming/allowance.h"
#include "profile/profile_rows.h"
#include "symbol/symbol.h"

/*
 * Source lines for the rows of a part. The part must be an object, and its file must be readable.
 */
struct place_lines {
	struct source_lines *lines; /* by distinct offset; NULL: none */
	size_t next;
	const struct source_line *line; /* of the last row */
	char why[EXPORT_NOTE_BYTES]; /* the first object without lines, and the reason; "" */
	size_t others; /* other objects without lines */
	struct allowance allowance;
};

/* Loads the lines of a part. Rows must be at its first row. Returns 0 or -ENOMEM. */
int place_lines_load(struct place_lines *lines, struct profile_rows *rows);

/*
 * Returns the line of the part's next row; call it once for each. NULL: DWARF has none. The line is
 * valid until the next load.
 */
const struct source_line *place_lines_next(struct place_lines *lines,
					   const struct profile_row *row);

/* Adds a note on objects without lines, and frees. */
void place_lines_end(struct place_lines *lines, const struct export_options *options);

#endif
