/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TOP_TABLE_H
#define BPFPROFIL_TOP_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "host/top/line.h"
#include "host/top/list.h"
#include "host/top/model.h"

/* A table of rows, on a screen or in a pipe. */
struct top_columns {
	enum top_by by;
	bool threads; /* not processes */
	bool whole; /* of all intervals and not of the last one */
	size_t place; /* width of the first column of names */
	bool ticks; /* shown if there is room beside the names */
};

/* Columns for rows[0..nr), in lines that are width columns wide (0: unlimited). */
struct top_columns top_columns_fit(const struct top_choice *choice, bool whole,
				   const struct top_row *const *rows, size_t nr, size_t width);

/* Writes the headings, with a mark at the one that sort names; TOP_SORTS: without a mark. */
void top_put_headings(struct top_line *line, const struct top_columns *columns, enum top_sort sort);

void top_put_row(struct top_line *line, const struct top_columns *columns,
		 const struct top_model *model, const struct top_row *row, bool selected);

/* Writes the sum of removed rows, if there are any. */
void top_put_others(struct top_line *line, const struct top_columns *columns,
		    const struct top_model *model);

/* "1994 ticks in 2.000 s, 1.00 of 2 CPUs (50.0 %), 0 lost": of the last interval, and of all. */
void top_put_interval(struct top_line *line, const struct top_model *model);
void top_put_overall(struct top_line *line, const struct top_model *model);

#endif
