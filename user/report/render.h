/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_RENDER_H
#define BPFPROFIL_RENDER_H

#include <stdio.h>

#include "report/rows.h"

/* Everything a writer of one format needs; nr is how many of the rows to show. */
struct report {
	const struct profile *profile;
	const struct report_options *options;
	const struct profile_account *account;
	const struct report_rows *rows;
	size_t nr;
};

/* Rows of processes or cgroups: of no object. */
static inline bool is_of_split(const struct report *report)
{
	return report->options->by == REPORT_PROCESSES || report->options->by == REPORT_CGROUPS;
}

void render_text(const struct report *report, FILE *out);
void render_csv(const struct report *report, FILE *out);
void render_json(const struct report *report, FILE *out);

/* Only the table of render_text(), with its headings. */
void render_table(const struct report *report, FILE *out);

/* "N ticks = N binned + ...": the identity every account keeps, on one line. */
void render_identity(const struct profile_account *account, FILE *out);

/* "N ticks, 1.23 s of CPU time at 997 Hz in 1.25 s, ..." without a newline. */
void render_ticks(const struct profile *profile, const struct profile_account *account, FILE *out);

/* Why there is nothing to show, in a sentence. */
void render_empty(const struct profile *profile, const struct profile_account *account, FILE *out);

#endif
