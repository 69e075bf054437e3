/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_ANNOTATE_IMPL_H
#define BPFPROFIL_ANNOTATE_IMPL_H

#include <limits.h>

#include "report/annotate.h"
#include "report/rows.h"
#include "symbol/code.h"
#include "symbol/string_set.h"

/* The steps of annotation_build(), and what they hand on. */

/* What stands beside a row, a bit for each lane. */
struct annotation_cells {
	uint8_t up; /* a jump that goes on above */
	uint8_t down;
	uint8_t end; /* one that begins or ends here */
	uint8_t arrives; /* ends here */
};

struct annotation_memory {
	struct string_set strings;
	uint8_t *code;
	size_t rows_room;
	struct annotation_cells *cells; /* for each row; NULL: no jumps */
};

/* What a place turned out to be. */
struct annotated_place {
	uint32_t object;
	uint64_t offset; /* in it */
	const struct profile_function *function; /* NULL: no tick's function is there */
};

struct annotating {
	const struct profile *profile;
	const struct annotation_request *request;
	struct annotation *annotation;
	struct report_rows bins; /* of the profile; then only those of the function */
	struct annotated_place place;
	int fd; /* of the object's file, or -1 */
	char root[PATH_MAX];
	struct symbol_table *symbols; /* of the object, or NULL */
	struct error no_code; /* why there is none; "": there is */
};

static inline const struct profile_object *annotated_object(const struct annotating *work)
{
	return &work->profile->objects[work->annotation->object];
}

/* The number of a bin's function; of those that have none, one more than there are. */
static inline size_t annotated_function(const struct annotating *work, const struct report_row *bin)
{
	return bin->function ? (size_t)(bin->function - work->profile->functions) :
			       work->profile->nr_functions;
}

/* -ENOMEM */
int annotation_note(struct annotation *annotation, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Finds request->place among work->bins. */
int annotate_find_place(struct annotating *work, struct error *err);

/*
 * The function that another one of this name was inlined in, and has the most ticks of; object NULL:
 * in any. -EINVAL: there is none, and err names those that are called much like it. ticks: of each
 * function of the profile.
 */
int annotate_find_inlined(struct annotating *work, const char *object, const char *name,
			  const uint64_t *ticks, struct error *err);

/* Opens the object and its symbols. Refuses one that has changed; without any, no_code says why. */
int annotate_open(struct annotating *work, struct error *err);

/* Says where the function begins and ends, and leaves only its bins in work->bins. */
int annotate_find_extent(struct annotating *work, struct error *err);

/* A row for each instruction, without ticks; none when no_code says why. */
int annotate_read_code(struct annotating *work, struct error *err);

/* Ticks for the rows; bins are the rows where there is no code. */
int annotate_count(struct annotating *work, struct error *err);

/* Source lines of the rows, and their text. */
int annotate_find_lines(struct annotating *work, struct error *err);

/* Jumps from the rows' targets, and lanes for them. */
int annotate_find_jumps(struct annotation *annotation, unsigned int lanes, struct error *err);

#endif
