/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_ANNOTATION_H
#define BPFPROFIL_ANNOTATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "profile/profile.h"
#include "report/report_options.h"
#include "symbol/string_set.h"

/* The result of annotation_build(), its drawing, and its formats. */

#define ANNOTATION_NONE SIZE_MAX

/* A source line that instructions of the function belong to. */
struct annotation_line {
	const char *file;
	uint32_t line;
	const char *text; /* without its newline; NULL: the source file is missing */
	uint64_t ticks; /* ticks of instructions that belong to this line only */
};

/*
 * An instruction or, without code, a bin. An instruction begins at a pc. Therefore a bin's ticks
 * belong to the instructions that begin in it. A single one gets them all. If there are several,
 * the owner is unknown: the first has the ticks, and all are marked as sharing.
 */
struct annotation_row {
	uint64_t offset; /* of the first byte, in the object's offsets */
	uint64_t address; /* the address in the object's disassembly */
	uint64_t size;
	const uint8_t *bytes; /* of that size; NULL: there is no code */
	const char *text; /* the instruction, or NULL */
	const char *target; /* another function, as target of a jump or call */
	uint64_t ticks; /* of all rows that share them; 0 except in the first of these */
	size_t shared; /* rows that share these ticks, including this one: mostly 1 */
	size_t first; /* the first of these rows */
	size_t line; /* index in lines, or ANNOTATION_NONE */
	const char *function; /* the inlined function, or the function's own name, or NULL */
	size_t jump; /* index of the row it jumps to, or ANNOTATION_NONE */
};

/*
 * A jump within the function. Jumps to the same row share a lane. Lanes are drawn from right to
 * left; lane 0 is next to the instruction.
 */
struct annotation_jump {
	size_t from;
	size_t to;
};

#define ANNOTATION_LANES 8

/* The lanes beside a row, a bit each. */
struct annotation_cells {
	uint8_t up; /* a jump continues above */
	uint8_t down;
	uint8_t end; /* a jump begins or ends here */
	uint8_t arrives; /* a jump ends here */
};

struct annotation {
	const struct profile *profile;
	uint32_t object;
	const char *name; /* of the function */
	uint64_t offset;
	uint64_t size;
	uint64_t ticks; /* the sum over all rows */
	uint64_t total; /* of the profile or target: 100 % */
	double percent; /* of their time, as in a table */
	uint64_t bytes_per_bin; /* of the widest bin */
	struct annotation_row *rows; /* ascending by address */
	size_t nr_rows;
	struct annotation_line *lines; /* by file and number */
	size_t nr_lines;
	struct annotation_jump *jumps; /* sorted by `to` */
	size_t nr_jumps;
	unsigned int lanes; /* shown beside each row */
	char **notes; /* sentences to show with the rows */
	size_t nr_notes;
	/* Owned by it: */
	struct string_set strings;
	uint8_t *code;
	size_t rows_room;
	struct annotation_cells *cells; /* for each row; NULL: there are no jumps */
};

void annotation_free(struct annotation *annotation); /* NULL is fine */

/* Ticks as a percentage of the function's, and as one of the profile's time. */
double annotation_percent(const struct annotation *annotation, uint64_t ticks);
double annotation_of_profile(const struct annotation *annotation, uint64_t ticks);

/* Returns 0 or -ENOMEM. */
#define annotation_note(annotation, ...)                                                           \
	notes_add(&(annotation)->notes, &(annotation)->nr_notes, __VA_ARGS__)

/*
 * Draws the jumps beside a row, as UTF-8 into text. Returns the columns, the same for every row,
 * and 0 if there are no jumps. between: for the source line above the row.
 */
#define ANNOTATION_ARROWS_MAX (4 * (ANNOTATION_LANES + 1))
size_t annotation_arrows(const struct annotation *annotation, size_t row, bool between, char *text);

/*
 * Marks the `limit` hottest rows (0: every row), those that share ticks with them, and `context`
 * rows before and after each; the caller frees the array. NULL: out of memory.
 */
bool *annotation_choose(const struct annotation *annotation, uint64_t limit, size_t context);

/* The inlined function that a row belongs to; NULL: the row is the function's own. */
const char *annotation_inlined(const struct annotation *annotation,
			       const struct annotation_row *row);

/* How annotation_write() writes it. */
struct annotation_view {
	enum report_format format;
	bool hot; /* hottest first, instead of in the order of the text */
	uint64_t limit; /* only the N hottest, with their surroundings in text order; 0: all */
	bool color;
	unsigned int width; /* columns that rows may have; 0: nothing is cut */
};

/* Returns 0, or -ENOMEM before anything is written. */
int annotation_write(const struct annotation *annotation, const struct annotation_view *view,
		     FILE *out);

#endif
