/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_VIEWS_H
#define BPFPROFIL_VIEWS_H

#include "report/rows.h"

/*
 * The rows of a view, which options->by names: functions, lines, objects, bins, processes and so on.
 * Returns 0, or a negative errno with err filled in. Call rows_free() in any case.
 */
int rows_build(const struct profile *profile, const struct report_options *options,
	       struct report_rows *rows, struct error *err);

/*
 * The same for one of several profiles, in which what the options name may be missing. A JIT's
 * function has a row for each place where it was compiled to.
 */
int rows_of_part(const struct profile *profile, const struct report_options *options,
		 struct report_rows *rows, struct error *err);

/* Sorts so that the hottest `nr` come first, in order, and the rest in any order; 0: sorts all. */
void rows_sort(struct report_rows *rows, bool inclusive, size_t nr);

#endif
