/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_ANNOTATE_STEPS_H
#define BPFPROFIL_ANNOTATE_STEPS_H

#include <limits.h>

#include "report/annotate.h"
#include "report/rows.h"
#include "symbol/code.h"
#include "symbol/string_set.h"

/* The steps of annotation_build(). They return 0 or -ENOMEM; those with err, other errors, too. */

/* The search results for a place. */
struct annotated_place {
	uint32_t object;
	uint64_t offset; /* in the object */
	const struct profile_function *function; /* NULL: no tick is in a function there */
};

struct annotating {
	const struct profile *profile;
	const struct annotation_request *request;
	struct annotation *annotation;
	struct report_rows bins; /* of the profile; later only those of the function */
	double ns; /* CPU time that is 100 % */
	struct annotated_place place;
	int fd; /* the object's file; -1: none */
	char root[PATH_MAX];
	struct symbol_table *symbols; /* the object's, near the wanted offsets; NULL: none */
	struct annotated_target { /* targets of jumps and calls out of the function */
		size_t row;
		uint64_t offset;
	} * targets;
	size_t nr_targets;
	size_t targets_room;
	bool from_hits; /* there is no symbol, and only ticks mark where instructions begin */
	struct error no_code; /* why there is no code; "": there is */
};

static inline const struct profile_object *annotated_object(const struct annotating *work)
{
	return &work->profile->objects[work->annotation->object];
}

/* The options of a table of the ticks that the request covers. */
static inline struct report_options annotated_rows(const struct annotation_request *request)
{
	return (struct report_options){ .objects = request->objects,
					.nr_objects = request->nr_objects,
					.target = request->target };
}

/* Returns the index of a bin's function; nr_functions: it has none. */
static inline size_t annotated_function(const struct annotating *work, const struct report_row *bin)
{
	return bin->function ? (size_t)(bin->function - work->profile->functions) :
			       work->profile->nr_functions;
}

/* Replaces the symbols by those around these offsets, which it sorts. */
void annotate_load_symbols(struct annotating *work, uint64_t *offsets, size_t nr);

/* Finds request->place among work->bins. */
int annotate_find_place(struct annotating *work, struct error *err);

/* Makes a row without ticks for each instruction. If there is no code, a note says why. */
int annotate_read_code(struct annotating *work);

/* Adds ticks to the rows; if there is no code, makes rows of bins. */
int annotate_count(struct annotating *work);

/* Finds the source lines of the rows, with their text. */
int annotate_find_lines(struct annotating *work);

/* Turns the rows' targets into jumps, and assigns lanes. */
int annotate_find_jumps(struct annotation *annotation, unsigned int lanes);

#endif
