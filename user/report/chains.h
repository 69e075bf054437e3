/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CHAINS_H
#define BPFPROFIL_CHAINS_H

#include "report/rows.h"

/*
 * Who called whom, by rows: of functions, of lines, of objects. Text has a mark before rows are named
 * and combined, and rows keep the marks of what they were combined from, so a chain of text is a chain
 * of rows, whatever these are.
 */
struct row_marks;

/*
 * Adds a row without ticks for each site that the options choose to rows of bins by place, and a mark to
 * each. Returns 0 or -ENOMEM; rows_free() frees them too.
 */
int rows_chains_begin(const struct profile *profile, const struct report_options *options,
		      struct report_rows *rows);
void rows_chains_free(struct row_marks *marks); /* NULL is fine */

/*
 * Adds a row for what a row's text was inlined into, by source->caller and so on, so that these are
 * frames of chains; change(), unless it is NULL, makes of each what the others are. Returns 0
 * or -ENOMEM.
 */
int rows_chains_add_inlined(struct report_rows *rows, void (*change)(struct report_row *row));

/* Unites the marks of rows that are combined. */
void rows_chains_join(struct row_marks *marks, struct report_row *sum,
		      const struct report_row *row);

/*
 * Sets the inclusive ticks and time of combined rows. With options->tree rows become the rows of that
 * tree, each parent before its children. -EINVAL: there is no such function.
 */
int rows_chains_finish(const struct profile *profile, const struct report_options *options,
		       struct report_rows *rows, struct error *err);

#endif
