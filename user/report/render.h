/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_RENDER_H
#define BPFPROFIL_RENDER_H

#include <stdio.h>

#include "report/rows.h"

#define COLOR_HOT "\033[1;31m"
#define COLOR_WARM "\033[32m"
#define COLOR_DIM "\033[2m"
#define COLOR_END "\033[0m"

/* The share from which perf, too, marks a row. */
static inline const char *heat_color(double percent)
{
	return percent >= 5 ? COLOR_HOT : percent >= 0.5 ? COLOR_WARM : "";
}

/* Everything a writer of one format needs; nr is how many of the rows to show. */
struct report {
	const struct profile *profile;
	const struct report_options *options;
	const struct profile_account *account;
	double ns; /* of CPU time, in all */
	const struct report_rows *rows;
	size_t nr;
};

/* Rows of processes or cgroups: of no object. */
static inline bool is_of_split(const struct report *report)
{
	return report->options->by == REPORT_PROCESSES || report->options->by == REPORT_CGROUPS ||
	       report->options->by == REPORT_THREADS;
}

void render_text(const struct report *report, FILE *out);
void render_csv(const struct report *report, FILE *out);
void render_json(const struct report *report, FILE *out);

/* ",text" and ", "name": value", as all tables have them. */
void render_csv_field(FILE *out, const char *text);
void render_json_u64(FILE *out, const char *name, uint64_t value);
void render_json_text(FILE *out, const char *name, const char *text);

/* An account as an object, with its lost causes. */
void render_json_account(const struct profile_account *account, FILE *out);

/* Only the table of render_text(), with its headings. */
void render_table(const struct report *report, FILE *out);

/* "N ticks = N binned + ...": the identity every account keeps, on one line. */
void render_identity(const struct profile_account *account, FILE *out);

/* A line on what sampling took, where there was a budget. */
void render_cost(const struct profile *profile, FILE *out);

/* "N ticks, 1.23 s of CPU time at 997 Hz in 1.25 s, ..." without a newline. */
void render_ticks(const struct profile *profile, const struct report_options *options, FILE *out);

/* Where ticks and CPU time are apart: lines that begin with the label; of all targets or one. */
void render_cpu_time(const struct profile *profile, uint64_t target, const char *label, FILE *out);

/* A line for each target, or for the chosen one, where there are several. */
void render_targets(const struct profile *profile, uint64_t chosen, FILE *out);

/* Why there is nothing to show, in a sentence. */
void render_empty(const struct profile *profile, const struct report_options *options, FILE *out);

#endif
