/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_RENDER_H
#define BPFPROFIL_RENDER_H

#include <stdio.h>

#include "report/rows.h"

#define COLOR_HOT "\033[1;31m"
#define COLOR_WARM "\033[32m"
#define COLOR_DIM "\033[2m"
#define COLOR_END "\033[0m"

/* perf uses the same limits for colours. */
static inline const char *heat_color(double percent)
{
	return percent >= 5 ? COLOR_HOT : percent >= 0.5 ? COLOR_WARM : "";
}

/* Columns left in a row of a terminal, or 0 if nothing is cut. Figures are shown in any case. */
static inline size_t columns_left(size_t width, size_t used)
{
	if (!width)
		return 0;
	return width > used + 8 ? width - used : 8;
}

/* Used by all formats; nr is the number of rows to show. */
struct report {
	const struct profile *profile;
	const struct report_options *options;
	const struct profile_account *account;
	double ns; /* CPU time of the whole profile, */
	double whole_ns; /* and CPU time that is 100 % in the rows */
	const struct report_rows *rows;
	size_t nr;
	struct callers_account walks; /* how walks ended, if there are callers */
	const uint8_t *alike; /* by row: bits of enum alike; NULL: no rows look alike */
	size_t class_columns; /* of the longest class of waits */
};

/* Rows of processes, cgroups, threads or their names, which have no object. */
static inline bool is_of_split(const struct report *report)
{
	return report->options->by >= REPORT_PROCESSES && report->options->by <= REPORT_COMMS;
}

void render_text(const struct report *report, FILE *out);

/* Write ",text" and ", "name": value", as in all tables. */
void render_csv_field(FILE *out, const char *text);
void render_json_u64(FILE *out, const char *name, uint64_t value);
void render_json_double(FILE *out, const char *name, double value);
void render_json_text(FILE *out, const char *name, const char *text);

/* The heading of CSV, by enum report_by; the fields of a row of a split; and the same in JSON. */
extern const char *const render_csv_columns[];
void render_csv_split(FILE *out, enum report_by by, const struct report_row *row);
void render_json_split(FILE *out, enum report_by by, const struct report_row *row);

/* Write ",file,line", both empty without a file, and "notes": [...]. */
void render_csv_line(FILE *out, const char *file, uint32_t line);
void render_json_notes(FILE *out, char *const *notes, size_t nr);

/* Writes elements of a list: the separator, "a", "b". */
void render_json_strings(FILE *out, const char *separator, char *const *texts, size_t nr);

/*
 * Does the same after notes on differences of ticks and CPU time. -ENOMEM: these are missing.
 */
int render_json_time_notes(FILE *out, const struct profile *profile, uint64_t target,
			   char *const *more, size_t nr);

/* Writes an account as an object, with its lost causes. */
void render_json_account(const struct profile_account *account, FILE *out);

/* Writes a tree of calls instead of a table, and how much is too small to be shown. */
void render_tree(const struct report *report, FILE *out);

/* Writes only the table of render_text(), with its headings. */
void render_table(const struct report *report, FILE *out);

/*
 * Writes "N ticks = N binned + ...", the identity of every account, on one line. brief: skip terms
 * that are 0.
 */
void render_identity(const struct profile_account *account, bool brief, FILE *out);

/* Writes a line about the cost of sampling, if there was a budget. */
void render_cost(const struct profile *profile, FILE *out);

/* The kernel's share of the time in per cent; negative: unknown. */
double kernel_percent(const struct report *report);

/*
 * Writes a line about the kernel's share of the time, or how to see it. Writes nothing for calls,
 * whose ticks are counted in the caller's own text.
 */
void render_kernel(const struct report *report, const char *label, FILE *out);

/*
 * Writes a line on how the walks to callers ended. Writes nothing for a profile without callers or
 * ticks.
 */
void render_callers(const struct report *report, const char *label, FILE *out);

/* Writes "N ticks, 1.23 s of CPU time at 997 Hz in 1.25 s, ..." without a newline. */
void render_ticks(const struct profile *profile, const struct report_options *options, FILE *out);

/* Writes "1.234 ms" and the like, in nine columns, into text. */
#define MEAN_BYTES 16
void render_mean(uint64_t ns, uint64_t count, char text[MEAN_BYTES]);

/*
 * Writes one line: wall time = CPU + runnable + waits by class, of all targets or one. Writes
 * nothing for a profile without waits.
 */
void render_wait_account(const struct profile *profile, uint64_t target, const char *label,
			 FILE *out);

/* Writes a line on how the walks to the callers of waits ended; nothing if there were none. */
void render_wait_callers(const struct profile *profile, uint64_t target, const char *label,
			 FILE *out);

/* Writes a line if most of the chosen waits are those of idle threads. */
void render_idle_hint(const struct report *report, const char *label, FILE *out);

/* Writes a line that waits are not sampled, if the target hardly ran. */
void render_waits(const struct profile *profile, const struct report_options *options,
		  const char *label, FILE *out);

/* Writes lines about differences between ticks and CPU time, of all targets or one. */
void render_cpu_time(const struct profile *profile, uint64_t target, const char *label, FILE *out);

/* If there are several targets, writes a line for each, or for the chosen one. */
void render_targets(const struct profile *profile, uint64_t chosen, FILE *out);

/* If only the first of these are shown, writes how many, and the option for all of them. */
void render_limit(size_t nr, size_t of, const char *noun, FILE *out);

/* Writes why there is nothing to show. */
void render_empty(const struct profile *profile, const struct report_options *options, FILE *out);

#endif
