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
 * Reads the DWARF of one file: the question, the results, and limits of time, memory and files,
 * because anybody can write DWARF.
 */

struct source_lines {
	struct source_line *lines;
	size_t nr;
	struct string_set strings; /* all texts */
	struct call_site **sites; /* after the sites of their callers */
	size_t nr_sites, sites_room;
	struct scope **scopes;
	size_t nr_scopes, scopes_room;
	struct error why; /* why the file was refused */
};

/* A place where a function was inlined. Many lines share it. */
struct call_site {
	struct source_line line; /* first: others point to it */
	uint32_t number; /* from 1 */
};

struct scope {
	struct source_scope scope; /* first: others point to it */
	uint32_t number; /* from 1 */
};

/* Adds an empty one. NULL: out of memory. */
struct call_site *source_lines_add_site(struct source_lines *lines);
struct scope *source_lines_add_scope(struct source_lines *lines);

/* An offset to look up, as an address of the file. */
struct asked_place {
	uint64_t address;
	size_t index; /* index in source_lines */
};

/* A place in the current unit. The places of a unit ascend by address. */
struct unit_place {
	uint64_t address;
	size_t index;
	size_t frame; /* the innermost function so far; 0: none */
};

/* A function, inlined or not. */
struct unit_frame {
	Dwarf_Die die;
	size_t caller; /* frame of its caller; 0: not inlined */
	const char *name;
	const struct source_scope *scope;
	const struct source_line *site; /* where the caller calls it; NULL: not inlined */
};

struct compile_unit {
	Dwarf_Die die;
	const char *folder; /* where it was compiled, as an absolute path; NULL: unknown */
	struct unit_place *places;
	size_t nr;
	size_t room;
	struct unit_frame *frames; /* numbered from 1 */
	size_t nr_frames;
	size_t frames_room;
};

struct line_job {
	const struct elf_image *image; /* the file with the DWARF */
	const char *path; /* of that file, below root */
	const char *root;
	uid_t owner;
	bool trusted; /* its owner may name other files */
	Dwarf *dwarf;
	struct elf_image shared; /* parts that dwz moved into another file */
	Dwarf *shared_dwarf;
	Elf_Data *line_programs; /* .debug_line */
	uint64_t until_ns; /* CPU time of this thread */
	size_t steps;
	size_t nr_units;
	size_t nr_functions;
	size_t rows; /* rows in libdw since dwarf was opened */
	const struct asked_place *places; /* ascending by address */
	size_t nr;
	struct compile_unit unit;
	struct source_lines *lines;
};

/*
 * Counts a step of the work; some thousands take a millisecond. Anybody can write DWARF, and fill a
 * disk with it. -E2BIG: the time is used up.
 */
int line_job_step(struct line_job *job);

/* Starts the time limit of a job. */
void line_job_begin(struct line_job *job);

enum {
	LINE_JOB_SECONDS = 30, /* CPU time per object */
	LINE_UNITS_MAX = 1 << 18, /* libdw needs about a kilobyte for each */
	LINE_PROGRAM_MAX = 4 << 20, /* bytes of one unit; libdw needs a hundred times as much */
	LINE_FUNCTIONS_MAX = 1 << 20, /* functions that cover a requested place */
};

void line_job_close(struct line_job *job);

/*
 * Finds the unit with the functions of a skeleton unit; false: its file is missing or not safe to
 * open.
 */
bool line_job_split_unit(const struct line_job *job, Dwarf_Die *skeleton, Dwarf_Die *result);

/*
 * Opens the file's DWARF and resolves the places, within the limits above. -E2BIG: they were
 * exceeded; lines->why may say more.
 */
int line_job_run(struct line_job *job, int (*resolve)(struct line_job *job));

/* Opens job->dwarf again, so that libdw frees its caches. */
int line_job_reopen(struct line_job *job);

#endif
