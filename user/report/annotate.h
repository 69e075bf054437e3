/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_ANNOTATE_H
#define BPFPROFIL_ANNOTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "profile/profile.h"
#include "report/report.h"
#include "symbol/disasm.h"
#include "symbol/functions.h"

/*
 * A function instruction by instruction: what each costs, which source line it is of, where it
 * jumps. annotation_build() reads a profile and the files that ran and prints nothing; the writers
 * below, and a live view, show what it found.
 */

#define ANNOTATION_NONE SIZE_MAX

/* A source line that instructions of the function are of. */
struct annotation_line {
	const char *file;
	uint32_t line;
	const char *text; /* without its newline; NULL: no source file */
	uint64_t ticks; /* of instructions that are of no other line */
};

/*
 * An instruction; where there is no code to read, a bin. A pc is where an instruction begins, so
 * the ticks of a bin are those of the instructions that begin in it. One: they are its own.
 * Several: nobody knows which, the first has them all, and the others show that they share.
 */
struct annotation_row {
	uint64_t offset; /* first byte, in the object's offsets */
	uint64_t address; /* the same as a disassembler of the object shows it */
	uint64_t size;
	const uint8_t *bytes; /* size of them, or NULL: no code */
	const char *text; /* the instruction, or NULL */
	const char *target; /* the function a jump or call goes to, when it is another one */
	uint64_t ticks; /* of all rows that share; 0 in all but their first */
	size_t shared; /* rows that share ticks with this one, itself included: 1 for most */
	size_t first; /* of them */
	size_t line; /* in lines, or ANNOTATION_NONE */
	const char *function; /* the inlined one this is of, or the function's own name, or NULL */
	size_t jump; /* the row it jumps to, or ANNOTATION_NONE */
};

/*
 * A jump within the function. Those to one row share a lane; lanes are drawn from right to left, 0
 * is next to the instruction.
 */
struct annotation_jump {
	size_t from;
	size_t to;
	unsigned int lane; /* ANNOTATION_LANES: there was none left; hot ones come first */
};

#define ANNOTATION_LANES 8

struct annotation {
	const struct profile *profile;
	uint32_t object;
	const char *name; /* of the function */
	uint64_t offset;
	uint64_t size;
	uint64_t ticks; /* the sum of all rows' */
	uint64_t total; /* of the profile or target that shares are of */
	uint64_t bytes_per_bin; /* of the coarsest bin */
	struct annotation_row *rows; /* ascending */
	size_t nr_rows;
	struct annotation_line *lines; /* by file and number */
	size_t nr_lines;
	struct annotation_jump *jumps; /* by to */
	size_t nr_jumps;
	unsigned int lanes; /* beside each row */
	char **notes; /* sentences that whoever shows the rows must show too */
	size_t nr_notes;
	struct annotation_memory *memory; /* owns the strings */
};

struct annotation_request {
	/* SYMBOL, OBJECT:SYMBOL, OBJECT:OFFSET (as report shows it) or FILE:LINE */
	const char *place;
	const struct profile_function *function; /* of the profile, instead of place; or NULL */
	const char *const *objects; /* only these; none: all */
	size_t nr_objects;
	uint64_t target; /* id, or REPORT_ALL_TARGETS */
	/*
	 * The objects' files, for code, symbols and lines; may be asked for one several times. NULL:
	 * there are none.
	 */
	const struct object_opener *opener;
	const char *source; /* folder to look for source files in, too; or NULL */
	const char *kcore; /* the kernel's code; NULL is /proc/kcore */
	enum disasm_syntax syntax;
	unsigned int lanes; /* columns to draw jumps in, at most ANNOTATION_LANES */
};

/*
 * 0, and the caller frees *ret with annotation_free(). -EINVAL: no such place, or no tick there.
 * -ESTALE: the file is no longer the one that ran, and its code would be another one. Without a
 * file at all, with JIT text or an unreadable kernel the rows are bins, and a note says why.
 */
int annotation_build(const struct profile *profile, const struct annotation_request *request,
		     struct annotation **ret, struct error *err);
void annotation_free(struct annotation *annotation); /* NULL is fine */

/* Ticks in per cent of the function's. */
double annotation_percent(const struct annotation *annotation, uint64_t ticks);

/*
 * The jumps that pass by a row, as UTF-8 into text, and how many columns that takes: the same for
 * every row, 0 when there are no jumps. between is the line above the row, where its source line
 * stands.
 */
#define ANNOTATION_ARROWS_MAX (4 * (ANNOTATION_LANES + 1))
size_t annotation_arrows(const struct annotation *annotation, size_t row, bool between, char *text);

struct annotation_view {
	enum report_format format;
	bool hot; /* hottest first, instead of as they stand in the text */
	uint64_t limit; /* the N hottest, and as text what stands around them; 0: all */
	bool color;
	unsigned int width; /* columns that rows may have; 0: nothing is cut */
};

/* 0 or -ENOMEM, before anything is written. */
int annotation_write(const struct annotation *annotation, const struct annotation_view *view,
		     FILE *out);

#endif
