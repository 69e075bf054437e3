/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_LINES_H
#define BPFPROFIL_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include <elfutils/libdw.h>

#include "elf/elf_image.h"
#include "symbol/string_set.h"
#include "symbol/symbol.h"

/* The steps of source_lines_load: places to units, a unit's rows to lines, its DIEs to functions. */

struct source_lines {
	struct source_line *lines;
	size_t nr;
	struct string_set strings;
	struct call_site *sites;
	struct scope *scopes;
	struct error why; /* of a file that is refused */
};

/* A place that a function was inlined at; many lines share it. */
struct call_site {
	struct source_line line;
	struct call_site *next;
};

struct scope {
	struct source_scope scope;
	struct scope *next;
};

/* An offset that was asked for, as the address the file calls it. */
struct asked_place {
	uint64_t address;
	size_t index; /* in source_lines */
};

/* A place in the unit at hand. Places of a unit ascend by address. */
struct unit_place {
	uint64_t address;
	size_t index;
	size_t frame; /* the innermost function seen yet; 0: none */
};

/* A function, or one that was inlined into another. */
struct unit_frame {
	Dwarf_Die die;
	size_t caller; /* frame; 0: not inlined */
	const char *name;
	const struct source_scope *scope;
	const struct source_line *site; /* where the caller has it; NULL: not inlined */
};

struct compile_unit {
	Dwarf_Die die;
	struct unit_place *places;
	size_t nr;
	size_t room;
	struct unit_frame *frames; /* numbered from 1 */
	size_t nr_frames;
	size_t frames_room;
};

struct line_job {
	const struct elf_image *image; /* that has the DWARF */
	const char *path; /* its own, below root */
	const char *root;
	bool trusted; /* whoever made the program may name other files to us */
	Dwarf *dwarf;
	struct elf_image shared; /* what dwz put into another file */
	Dwarf *shared_dwarf;
	Elf_Data *line_programs; /* .debug_line */
	uint64_t until_ns; /* of this thread's CPU time */
	bool limited; /* memory is, until the job is done */
	uint64_t data_before;
	struct rlimit limit_before;
	size_t steps;
	size_t nr_units;
	size_t nr_functions;
	size_t rows; /* that libdw holds since dwarf was opened */
	const struct asked_place *places; /* ascending by address */
	size_t nr;
	struct compile_unit unit;
	struct source_lines *lines;
};

/*
 * DWARF comes from anybody, and may be as much as a disk holds: a step of the work, of which some
 * thousands are taken in a millisecond. -E2BIG: it takes too long.
 */
int line_job_step(struct line_job *job);

enum {
	LINE_JOB_SECONDS = 30, /* of CPU time, for one object */
	LINE_UNITS_MAX = 1 << 18, /* libdw holds about a kilobyte of each */
	LINE_PROGRAM_MAX = 4 << 20, /* bytes of one unit: libdw makes a hundred of each */
	LINE_MEMORY_MAX = 512 << 20, /* bytes that libdw makes of one object's sections */
	LINE_FUNCTIONS_MAX = 1 << 20, /* that cover a place that was asked for */
};

/*
 * The other files that DWARF names are looked for by us: libdw would open whatever is there, and
 * wait for a fifo's writer.
 */
int line_job_share(struct line_job *job);
void line_job_unshare(struct line_job *job);

/* Where the functions of a skeleton are; false: nowhere that is safe to look. */
bool line_job_split_unit(const struct line_job *job, Dwarf_Die *skeleton, Dwarf_Die *ret);

/* Running out of memory in this file ends source_lines_load, not the process. NULL is fine. */
void line_job_guard(Dwarf *dwarf);

/* Opens job->dwarf anew, so that libdw lets go of what it cached. */
int line_job_reopen(struct line_job *job);

int line_units_resolve(struct line_job *job);

/* First place of the unit at or above the address; nr when there is none. */
size_t unit_lower_bound(const struct compile_unit *unit, uint64_t address);

int line_functions_resolve(struct line_job *job);

#endif
