/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_ROWS_H
#define BPFPROFIL_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/profile.h"
#include "report/report.h"
#include "symbol/functions.h"
#include "symbol/symbol.h"

/* Some text and its ticks. What a row does not have is NULL or 0. */
struct report_row {
	uint64_t ticks;
	double ns; /* of CPU time that they stand for */
	double squares; /* sum of the same squared of each: by that the time varies */
	uint32_t object;
	uint64_t offset; /* first byte, in the object's offsets */
	uint64_t size;
	const struct profile_function *function;
	const char *name; /* the function's, or that of an inlined one */
	const char *file;
	uint32_t line;
	const struct source_line *source; /* what DWARF says of its place */
	bool scattered; /* a function of the source, wherever its code is: of no one place */
	uint64_t inlined; /* of its ticks, those where it was inlined */
	int64_t pid; /* by process: -1 for text of no single one */
	const char *cgroup;
	const struct timeline_part *part; /* by time: its name is that of the hottest function */
};

/* The rows of a view, hottest first, and what the view must say beside them. */
struct report_rows {
	struct report_row *rows;
	size_t nr;
	size_t capacity;
	struct source_lines **lines; /* own the strings of rows */
	size_t nr_lines;
	char **notes;
	size_t nr_notes;
};

/* 0 or a negative errno with err filled. rows_free() in either case. */
int rows_build(const struct profile *profile, const struct report_options *options,
	       struct report_rows *rows, struct error *err);
void rows_free(struct report_rows *rows);

/* The same of one of several profiles, in which what the options name may be missing. */
int rows_of_part(const struct profile *profile, const struct report_options *options,
		 struct report_rows *rows, struct error *err);

/* Gives a row the time of its ticks, weight nanoseconds each. */
void row_weigh(struct report_row *row, double weight);

/* Adds a row to the end; -ENOMEM. */
int rows_add(struct report_rows *rows, const struct report_row *row);

/* Sorts, and adds up what compares equal in the place of the first. */
void rows_merge(struct report_rows *rows, int (*compare)(const void *left, const void *right));

/* A row for each bin that options choose, ascending by object and offset, with its function. */
int rows_of_bins(const struct profile *profile, const struct report_options *options,
		 struct report_rows *rows, struct error *err);

/* Gives such rows their source lines, from the objects' files. */
int rows_find_lines(const struct profile *profile, const struct object_opener *opener,
		    struct report_rows *rows, struct error *err);

/* The same, and a row for each line; what has none is its function's. */
int rows_by_lines(const struct profile *profile, const struct object_opener *opener,
		  struct report_rows *rows, struct error *err);

/* The same, and a row for each function of the source, inlined ones too; likewise. */
int rows_by_inlined(const struct profile *profile, const struct object_opener *opener,
		    struct report_rows *rows, struct error *err);

/* Makes a row with a source the row of its function there; without one it is its function's. */
void row_take_source(struct report_row *row);

/* The orders of bins, by place, and of such rows. */
int row_compare_place(const void *left, const void *right);
int row_compare_source(const void *left, const void *right);

/* Rows of processes or cgroups, in place of those of bins; object_chosen() has its say. */
int rows_by_split(const struct profile *profile, const struct report_options *options,
		  struct report_rows *rows, struct error *err);

/* A row for each file of the options' timeline. */
int rows_by_time(const struct report_options *options, struct report_rows *rows, struct error *err);

/* Whether the options let a histogram's ticks into the table. */
bool histogram_chosen(const struct profile *profile, const struct report_options *options,
		      const struct profile_histogram *histogram);

/* The row's first byte as the address an object's own disassembly shows. */
uint64_t row_address(const struct profile *profile, const struct report_row *row);

/* The account the rows are shares of: the profile's or one target's. */
const struct profile_account *rows_account(const struct profile *profile,
					   const struct report_options *options);

/* The CPU time of that account in nanoseconds, what no tick stands for too. */
double rows_ns(const struct profile *profile, const struct report_options *options);

/* Whether it is what the scheduler gave, all of it. */
bool is_cpu_known(const struct profile *profile, const struct report_options *options);

/* Whether they let the ticks of a target in. */
bool target_chosen(const struct profile *profile, const struct report_options *options,
		   uint32_t target);

/* The share of that time. */
double row_percent(double ns, const struct report_row *row);

#endif
