/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PLACE_LINES_H
#define BPFPROFIL_PLACE_LINES_H

#include "export/bin_walk.h"
#include "symbol/allowance.h"
#include "symbol/symbol.h"

/* Source lines of the bins of a walk's object, for which its file must be at hand. */
struct place_lines {
	struct source_lines *lines; /* of each offset once; NULL: there are none */
	size_t next;
	const struct source_line *line; /* of the bin given last */
	char why[EXPORT_NOTE_BYTES]; /* the first object without, or "" */
	size_t others; /* without, too */
	struct allowance allowance;
};

/* Goes to another object; the walk is then at its first bin. 0 or -ENOMEM. */
int place_lines_load(struct place_lines *lines, const struct profile_object *object,
		     struct bin_walk *walk);

/*
 * The line of the walk's next bin, to be asked for each, once. NULL: DWARF says nothing of it. It
 * lives until the next load.
 */
const struct source_line *place_lines_next(struct place_lines *lines,
					   const struct bin_place *place);

/* Tells the user whose lines are missing, and frees. */
void place_lines_end(struct place_lines *lines, const struct export_options *options);

/* The frame that has the code: line itself, unless it was inlined. */
const struct source_line *source_line_outermost(const struct source_line *line);

#endif
