/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_REPORT_OPTIONS_H
#define BPFPROFIL_REPORT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/callers.h"

/* The options of a table. */

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
 * Trees of callers, instead of rows by hotness. In a tree of calls, each function is on top, with
 * its direct callers below it. Each caller has the ticks whose chains include that call.
 */
enum report_tree { TREE_NONE, TREE_CALLERS, TREE_CALLEES, TREE_ALL, TREE_CALLS };
enum report_format { REPORT_TEXT, REPORT_CSV, REPORT_JSON };

/* The words of enum report_by, terminated by NULL: for --by, and for "by" in JSON. */
extern const char *const report_by_words[];

#define REPORT_ALL_TARGETS PROFILE_ALL_TARGETS

struct timeline;
struct report_row;
struct waits_view;

struct report_options {
	enum report_by by;
	bool inlined; /* with REPORT_FUNCTIONS: as written in the source, inlined or not */
	enum report_format format;
	uint64_t limit; /* rows at most; 0: all */
	/* Only these objects, by path or last component, which may lack its version; none: all. */
	const char *const *objects;
	size_t nr_objects;
	const char *comm; /* only processes or threads whose names match this pattern; NULL: all */
	const char *function; /* only rows of functions whose names match this one; NULL: all */
	uint64_t target; /* id, or REPORT_ALL_TARGETS */
	bool callers; /* with inclusive figures, if the profile has callers */
	enum report_tree tree; /* of `function`, for callers and callees */
	double min; /* rows of trees below this percentage are not shown */
	uint64_t depth; /* levels of such a tree; 0: all */
	/*
	 * Renames rows before chains are counted: rows of one name in an object become one, and so
	 * do rows without a name. 0 or -ENOMEM. NULL: rows keep their names and places.
	 */
	int (*rename)(void *of, struct report_row *row);
	void *rename_of;
	bool inclusive; /* rows are sorted by inclusive time */
	const char *symfs; /* folder with the objects' files; NULL: their own paths */
	bool hints_symfs; /* if a file is missing, a note says how to name another place */
	const struct waits_view *waits; /* the profile is this view's, of waits; NULL: of ticks */
	const struct timeline *timeline; /* the files of a sum; NULL: a single file */
	bool brief; /* skip terms of the account that are 0 */
	bool color;
	unsigned int width; /* columns for rows; 0: nothing is cut */
};

/* Returns how many rows are written. */
static inline size_t report_limit(const struct report_options *options, size_t rows)
{
	return options->limit && options->limit < rows ? options->limit : rows;
}

#endif
