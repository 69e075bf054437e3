/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_ROWS_H
#define BPFPROFIL_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/profile_rows.h"
#include "report/report_options.h"
#include "naming/functions.h"
#include "symbol/symbol.h"

/* Some text and its ticks. Members that a row does not have are NULL or 0. */
struct report_row {
	uint64_t ticks;
	double ns; /* CPU time that the ticks stand for */
	double squares; /* sum of the squares of each tick's ns, which is the variance of ns */
	uint32_t object;
	uint64_t offset; /* of the first byte, in the object's offsets */
	uint64_t size;
	const struct profile_function *function;
	const char *name; /* of the function or of an inlined one */
	const char *file;
	uint32_t line;
	const struct source_line *source; /* what DWARF says of the row's place */
	bool scattered; /* a function of the source or of a JIT, with code at several places */
	uint64_t inlined; /* how many of its ticks fell where it was inlined */
	int64_t pid; /* by process: -1 if it is not a single one; by CPU: its number */
	const char *cgroup; /* its path; the name is that of its container, or NULL */
	const struct timeline_part *part; /* for rows of time; the name is the hottest function's */
	uint64_t inclusive_ticks; /* with callers: of it and of all that it called */
	double inclusive_ns;
	double inclusive_squares;
	uint32_t first_mark, last_mark; /* of its text, by which chains know it; row_marks.h */
	uint32_t depth; /* in a tree of chains; 0: at the top */
	uint32_t parent; /* of such a row: its index; at the top none */
	bool branch; /* its parent has other rows too, */
	bool last; /* of which it is the last */
	bool abstract; /* no text: "[kernel]", "[cut: late]" */
	uint32_t recursion; /* calls of a recursive function that were folded into it; 0: one */
};

/* The rows of a view, hottest first, and notes that the view must show. */
struct report_rows {
	struct report_row *rows;
	size_t nr;
	size_t capacity;
	struct source_lines **lines; /* own the strings of rows */
	size_t nr_lines;
	struct profile_rows from; /* where they come from, for chains */
	struct cgroup_names *cgroups; /* the same */
	struct row_marks *marks; /* NULL: rows have no inclusive ticks */
	size_t nr_cut; /* contexts of a tree that are too small for a row, */
	uint64_t cut_ticks; /* and their ticks */
	double whole_ns; /* the time that shares in a tree are of */
	/* Of the function whose callers the tree has: who called it, and behind these what it called. */
	struct report_row *neighbours;
	size_t nr_callers, nr_neighbours;
	char **notes;
	size_t nr_notes;
	bool hints_symfs; /* see struct report_options */
};

void rows_free(struct report_rows *rows);

/* -EINVAL: what the options name is not in the profile. */
int rows_check(const struct profile *profile, const struct report_options *options,
	       struct error *err);

/* Sets the time of a row: its ticks at weight nanoseconds each. */
void row_weigh(struct report_row *row, double weight);

/* Makes a row of a bin the row of its function; a bin without a function stays. */
void row_take_function(struct report_row *row);

/* Appends a row; -ENOMEM. */
int rows_add(struct report_rows *rows, const struct report_row *row);

/* Sorts rows, and adds up those that compare equal into the first of them. */
void rows_merge(struct report_rows *rows, int (*compare)(const void *left, const void *right));

/*
 * Makes a row for each bin that the options choose, ascending by object and offset, with its function.
 * folds: for each function, and each bin without one; with callers, which know bins, for each bin all the
 * same.
 */
int rows_named(const struct profile *profile, const struct report_options *options, bool folds,
	       struct report_rows *rows, struct error *err);

/* The same for each bin, of options that are checked first. */
int rows_of_bins(const struct profile *profile, const struct report_options *options,
		 struct report_rows *rows, struct error *err);

/* Sets the source lines of rows of bins, from the objects' files. */
int rows_find_lines(const struct profile *profile, const struct object_opener *opener,
		    struct report_rows *rows, struct error *err);

/* The same, and then combines rows by line; rows without a line are combined by function. */
int rows_by_lines(const struct profile *profile, const struct object_opener *opener,
		  struct report_rows *rows, struct error *err);

/*
 * The same, and then combines rows by function of the source, including inlined ones; rows without
 * a line as above.
 */
int rows_by_inlined(const struct profile *profile, const struct object_opener *opener,
		    struct report_rows *rows, struct error *err);

/*
 * Changes a row with a source to that of its function in the source; one without source stays its
 * function's.
 */
void row_take_source(struct report_row *row);

/* The orders of bins by place, and of rows of source functions. */
int row_compare_place(const void *left, const void *right);
int row_compare_source(const void *left, const void *right);

/* Whether the options name an object, or none at all. */
bool object_named(const struct profile *profile, const struct report_options *options,
		  uint32_t object);

/*
 * Whether they let its text into the table. Of callers and callees they say whose function is meant,
 * and all text is shown.
 */
bool object_chosen(const struct profile *profile, const struct report_options *options,
		   uint32_t object);

/*
 * Sets, for each row, whether options->function means it: a pattern, or a name as for --annotate, which
 * may be without what languages put around it. If none has the name, it means libc's variants of that
 * function, of which notes are added. Returns 0 or -ENOMEM.
 */
int rows_choose_functions(const struct profile *profile, const struct report_options *options,
			  struct report_rows *rows, bool *chosen);

/* That nothing has the function's name: by which option it was given, and where it was expected. */
struct function_refusal {
	const char *option;
	const char *where; /* "is in a chain" */
	const char *hint;
};

/*
 * Sets err, with names of the rows that are much like it. If there are none, the hint has text
 * without names too. Sorts the rows. Returns -EINVAL or -ENOMEM.
 */
int rows_refuse_function(const struct profile *profile, const struct report_options *options,
			 const struct function_refusal *refusal, struct report_rows *rows,
			 struct error *err);

/* Whether the options let a process or cgroup into the table. */
bool split_chosen(const struct profile *profile, const struct report_options *options,
		  const struct profile_split *split);

/* Whether the options let a histogram's ticks into the table. */
bool histogram_chosen(const struct profile *profile, const void *options,
		      const struct profile_histogram *histogram);

/* The command that makes such a profile: run or attach. */
const char *rows_command(const struct profile *profile);

/* The address of the row's first byte as the object's own disassembly shows it. */
uint64_t row_address(const struct profile *profile, const struct report_row *row);

/* The account that shares refer to: the profile's or one target's. */
const struct profile_account *rows_account(const struct profile *profile,
					   const struct report_options *options);

/* The CPU time of that account in nanoseconds, including time for which no tick stands. */
double rows_ns(const struct profile *profile, const struct report_options *options);

/* Whether that time is all known from the scheduler. */
bool is_cpu_known(const struct profile *profile, const struct report_options *options);

/* A share of that time, and the row's. */
double share_of(double whole, double ns);
double row_percent(double ns, const struct report_row *row);

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

/*
 * Who called whom, by rows: of functions, of lines, of objects. Sets the inclusive ticks and time of
 * combined rows that have marks. With options->tree rows become the rows of that tree, each parent
 * before its children. -EINVAL: there is no such function.
 */
int rows_chains_finish(const struct profile *profile, const struct report_options *options,
		       struct report_rows *rows, struct error *err);

/*
 * What people call the cgroups of a profile: the container's name, in Kubernetes
 * namespace/pod/container, and what a cgroup below that is called. No two have the same name.
 */
struct cgroup_names;

struct cgroup_names *cgroup_names_new(const struct profile *profile); /* NULL: out of memory */
void cgroup_names_free(struct cgroup_names *names); /* NULL is fine */

/* NULL: it has no name but its path. Valid as long as names. */
const char *cgroup_names_find(const struct cgroup_names *names, const char *cgroup);

#endif
