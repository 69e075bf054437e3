/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CHAINS_H
#define BPFPROFIL_CHAINS_H

#include "report/rows.h"

/*
 * Who called whom, by rows: of functions, of lines, of objects. Sets the inclusive ticks and time of
 * combined rows that have marks. With options->tree rows become the rows of that tree, each parent
 * before its children. -EINVAL: there is no such function.
 */
int rows_chains_finish(const struct profile *profile, const struct report_options *options,
		       struct report_rows *rows, struct error *err);

#endif
