/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_REPORT_OPTIONS_H
#define BPFPROFIL_REPORT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/callers.h"

/* What a table is asked for. */

enum report_by {
	REPORT_FUNCTIONS,
	REPORT_OBJECTS,
	REPORT_LINES,
	REPORT_BINS,
	REPORT_PROCESSES,
	REPORT_CGROUPS,
	REPORT_THREADS,
	REPORT_COMMS,
	REPORT_CPUS,
	REPORT_TIME
};
/*
 * A tree of who called whom instead of rows by hotness. In that of calls each function is on top, and below
 * it are its direct callers, each with the ticks whose chains have that call.
 */
enum report_tree { TREE_NONE, TREE_CALLERS, TREE_CALLEES, TREE_ALL, TREE_CALLS };
enum report_format { REPORT_TEXT, REPORT_CSV, REPORT_JSON };

/* The words of enum report_by, terminated by NULL: for --by, and for "by" in JSON. */
extern const char *const report_by_words[];

#define REPORT_ALL_TARGETS PROFILE_ALL_TARGETS

struct timeline;
struct report_row;

struct report_options {
	enum report_by by;
	bool inlined; /* with REPORT_FUNCTIONS: those of the source, inlined or not */
	enum report_format format;
	uint64_t limit; /* rows at most; 0: all */
	/* Only these objects, by path or last component, which may lack its version; none: all. */
	const char *const *objects;
	size_t nr_objects;
	const char *comm; /* only processes or threads whose names match this pattern; NULL: all */
	const char *function; /* only rows of functions whose names match this one; NULL: all */
	uint64_t target; /* id, or REPORT_ALL_TARGETS */
	bool callers; /* with what each called, if the profile has callers */
	enum report_tree tree; /* of `function`, for callers and callees */
	double min; /* per cent that a row of such a tree must have */
	uint64_t depth; /* levels of such a tree; 0: all */
	/*
	 * Names rows before chains are counted: rows of one name in an object become one, or those of
	 * none. 0 or -ENOMEM. NULL: rows keep their names and places.
	 */
	int (*rename)(void *of, struct report_row *row);
	void *rename_of;
	bool inclusive; /* rows are sorted by what they have with that */
	const char *symfs; /* folder that has the objects' files; NULL: at their own paths */
	bool hints_symfs; /* a note on a file that is not there says how to name another place */
	const struct timeline *timeline; /* the files that were added up; NULL: a single one */
	bool brief; /* leave terms of the account out that are 0, as on a screen */
	bool color;
	unsigned int width; /* columns that rows may have; 0: nothing is cut */
};

/* How many of so many rows are written. */
static inline size_t report_limit(const struct report_options *options, size_t rows)
{
	return options->limit && options->limit < rows ? options->limit : rows;
}

#endif
