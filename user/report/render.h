/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_RENDER_H
#define BPFPROFIL_RENDER_H

#include <stdio.h>

#include "report/rows.h"

#define COLOR_HOT "\033[1;31m"
#define COLOR_WARM "\033[32m"
#define COLOR_DIM "\033[2m"
#define COLOR_END "\033[0m"

/* The shares from which a row is coloured are perf's. */
static inline const char *heat_color(double percent)
{
	return percent >= 5 ? COLOR_HOT : percent >= 0.5 ? COLOR_WARM : "";
}

/* The row's last columns on a terminal, or 0 if nothing is cut. The figures are shown in any case. */
static inline size_t columns_left(size_t width, size_t used)
{
	if (!width)
		return 0;
	return width > used + 8 ? width - used : 8;
}

/* What a writer of any format needs; nr is the number of rows to show. */
struct report {
	const struct profile *profile;
	const struct report_options *options;
	const struct profile_account *account;
	double ns; /* CPU time of all of it, */
	double whole_ns; /* and of what the rows' shares are of */
	const struct report_rows *rows;
	size_t nr;
	struct callers_account walks; /* how they ended, in a profile with callers */
	const uint8_t *alike; /* for each row: bits of enum alike; NULL: none looks like another */
};

/* Rows of processes, cgroups, threads or their names, which have no object. */
static inline bool is_of_split(const struct report *report)
{
	return report->options->by >= REPORT_PROCESSES && report->options->by <= REPORT_COMMS;
}

void render_text(const struct report *report, FILE *out);
void render_csv(const struct report *report, FILE *out);
void render_json(const struct report *report, FILE *out);

/* Write ",text" and ", "name": value", as in all tables. */
void render_csv_field(FILE *out, const char *text);
void render_json_u64(FILE *out, const char *name, uint64_t value);
void render_json_double(FILE *out, const char *name, double value);
void render_json_text(FILE *out, const char *name, const char *text);

/* Write ",file,line", both empty without a file, and "notes": [...]. */
void render_csv_line(FILE *out, const char *file, uint32_t line);
void render_json_notes(FILE *out, char *const *notes, size_t nr);

/* Writes an account as an object, with its lost causes. */
void render_json_account(const struct profile_account *account, FILE *out);

/* Writes a tree of calls instead of a table, and what of it is too small to be shown. */
void render_tree(const struct report *report, FILE *out);

/* Writes only the table of render_text(), with its headings. */
void render_table(const struct report *report, FILE *out);

/*
 * Writes "N ticks = N binned + ...", the identity of every account, on one line; brief leaves out
 * terms that are 0.
 */
void render_identity(const struct profile_account *account, bool brief, FILE *out);

/* Writes a line about what sampling took, if there was a budget. */
void render_cost(const struct profile *profile, FILE *out);

/* The kernel's share of the time in per cent; negative: it is not known. */
double kernel_percent(const struct report *report);

/*
 * Writes the kernel's share of the time where it is known, or how to see it, in a line that begins
 * with the label; nothing for calls, whose ticks are counted in the caller's own text.
 */
void render_kernel(const struct report *report, const char *label, FILE *out);

/*
 * Writes how the walks to callers ended, in a line that begins with the label; nothing for a profile
 * without callers or ticks.
 */
void render_callers(const struct report *report, const char *label, FILE *out);

/* Writes "N ticks, 1.23 s of CPU time at 997 Hz in 1.25 s, ..." without a newline. */
void render_ticks(const struct profile *profile, const struct report_options *options, FILE *out);

/* Writes that waits are not sampled, in a line that begins with the label, if there was little else. */
void render_waits(const struct profile *profile, const struct report_options *options,
		  const char *label, FILE *out);

/*
 * Writes where ticks and CPU time differ, for all targets or one, in lines that begin with the
 * label.
 */
void render_cpu_time(const struct profile *profile, uint64_t target, const char *label, FILE *out);

/* Writes a line for each target, or for the chosen one, if there are several. */
void render_targets(const struct profile *profile, uint64_t chosen, FILE *out);

/* Writes a sentence that says why there is nothing to show. */
void render_empty(const struct profile *profile, const struct report_options *options, FILE *out);

#endif
