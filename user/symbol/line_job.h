/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_LINE_JOB_H
#define BPFPROFIL_LINE_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <elfutils/libdw.h>

#include "elf/elf_image.h"
#include "symbol/string_set.h"
#include "symbol/symbol.h"

/*
 * The reading of one file's DWARF: what is asked, what was found, and the limits of time, memory and
 * files, because anybody can write DWARF.
 */

struct source_lines {
	struct source_line *lines;
	size_t nr;
	struct string_set strings;
	struct call_site *sites;
	struct scope *scopes;
	struct error why; /* why the file was refused */
};

/* A place where a function was inlined; many lines share it. */
struct call_site {
	struct source_line line;
	struct call_site *next;
};

struct scope {
	struct source_scope scope;
	struct scope *next;
};

/* An offset that was asked for, as the address that the file has for it. */
struct asked_place {
	uint64_t address;
	size_t index; /* index in source_lines */
};

/* A place in the current unit. The places of a unit ascend by address. */
struct unit_place {
	uint64_t address;
	size_t index;
	size_t frame; /* the innermost function found so far; 0: none */
};

/* A function, or one that was inlined into another. */
struct unit_frame {
	Dwarf_Die die;
	size_t caller; /* its caller's frame; 0: it is not inlined */
	const char *name;
	const struct source_scope *scope;
	const struct source_line *site; /* where the caller calls it; NULL: it is not inlined */
};

struct compile_unit {
	Dwarf_Die die;
	const char *folder; /* where it was compiled, from the root on; NULL: unknown */
	struct unit_place *places;
	size_t nr;
	size_t room;
	struct unit_frame *frames; /* numbered from 1 */
	size_t nr_frames;
	size_t frames_room;
};

struct line_job {
	const struct elf_image *image; /* the file that has the DWARF */
	const char *path; /* path of that file, below root */
	const char *root;
	uid_t owner;
	bool trusted; /* its owner is trusted to name other files */
	Dwarf *dwarf;
	struct elf_image shared; /* what dwz moved into another file */
	Dwarf *shared_dwarf;
	Elf_Data *line_programs; /* .debug_line */
	uint64_t until_ns; /* in this thread's CPU time */
	size_t steps;
	size_t nr_units;
	size_t nr_functions;
	size_t rows; /* rows that libdw holds since dwarf was opened */
	const struct asked_place *places; /* ascending by address */
	size_t nr;
	struct compile_unit unit;
	struct source_lines *lines;
};

/*
 * Counts a step of the work, of which some thousands take a millisecond, because anybody can write
 * DWARF and fill a disk with it. -E2BIG: it has taken too long.
 */
int line_job_step(struct line_job *job);

/* Begins the time that a job may take. */
void line_job_begin(struct line_job *job);

enum {
	LINE_JOB_SECONDS = 30, /* CPU time for one object */
	LINE_UNITS_MAX = 1 << 18, /* libdw holds about a kilobyte for each */
	LINE_PROGRAM_MAX = 4 << 20, /* bytes of one unit: libdw takes a hundred times as much */
	LINE_FUNCTIONS_MAX = 1 << 20, /* functions that cover a place that was asked for */
};

/* Closes what line_job_run() opened. */
void line_job_close(struct line_job *job);

/* Where the functions of a skeleton unit are; false: in no file that is safe to open. */
bool line_job_split_unit(const struct line_job *job, Dwarf_Die *skeleton, Dwarf_Die *result);

/*
 * Opens the file's DWARF and resolves what is asked of it, within the limits above. -E2BIG: they do
 * not do; lines->why may say more.
 */
int line_job_run(struct line_job *job, int (*resolve)(struct line_job *job));

/* Opens job->dwarf again, so that libdw frees what it cached. */
int line_job_reopen(struct line_job *job);

#endif
