/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TOP_TABLE_H
#define BPFPROFIL_TOP_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "top/line.h"
#include "top/list.h"
#include "top/model.h"

/* A table of rows, on a screen or in a pipe. */
struct top_columns {
	enum top_by by;
	bool whole; /* of all intervals, not of the last */
	size_t place; /* columns of the first of the names */
	bool ticks; /* where there is room beside names */
};

/* Wide enough for rows[0..nr), in lines of width columns (0: any). */
struct top_columns top_columns_fit(const struct top_choice *choice, bool whole,
				   const struct top_row *const *rows, size_t nr, size_t width);

/* The headings, with a mark at the one that sort names; TOP_SORTS: without. */
void top_put_headings(struct top_line *line, const struct top_columns *columns, enum top_sort sort);

void top_put_row(struct top_line *line, const struct top_columns *columns,
		 const struct top_model *model, const struct top_row *row, bool selected);

/* What the table's rows do not have, when there is such. */
void top_put_others(struct top_line *line, const struct top_columns *columns,
		    const struct top_model *model);

/* "1994 ticks in 2.000 s, 1.00 of 2 CPUs (50.0 %), 0 lost": of the last interval, and of all. */
void top_put_interval(struct top_line *line, const struct top_model *model);
void top_put_overall(struct top_line *line, const struct top_model *model);

#endif
