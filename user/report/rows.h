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

/* Some text and its ticks. Members that do not apply are NULL or 0. */
struct report_row {
	struct tick_sum own;
	struct tick_sum inclusive; /* with callees */
	uint32_t object;
	uint64_t offset; /* of the first byte, in the object's offsets */
	uint64_t size;
	const struct profile_function *function;
	const char *name; /* of the function or of an inlined one */
	const char *file;
	uint32_t line;
	const struct source_line *source; /* the row's place according to DWARF */
	bool scattered; /* a function of the source or of a JIT with code at several places */
	uint64_t inlined; /* ticks where it is inlined */
	int64_t pid; /* by process: -1 if there are several; by CPU: its number */
	const char *cgroup; /* its path; name is the container's, or NULL */
	const struct timeline_part *part; /* by time; name is the hottest function's */
	uint32_t first_mark, last_mark; /* of its text, for chains: row_marks.h */
	uint32_t depth; /* in a tree; 0: top */
	uint32_t parent; /* in a tree: index of the row above */
	bool branch; /* the row above has several rows below it, */
	bool last; /* and this is the last of them */
	bool abstract; /* not text: "[kernel]", "[cut: late]" */
	uint32_t recursion; /* depth of folded recursion; 0: none */
	const char *wait_class; /* of waits */
	uint64_t waits; /* their number */
};

/* The rows of a view, hottest first, and notes to show with them. */
struct report_rows {
	struct report_row *rows;
	size_t nr;
	size_t capacity;
	struct source_lines **lines; /* own the strings of rows */
	size_t nr_lines;
	struct profile_rows from; /* their source, for chains */
	struct cgroup_names *cgroups; /* owns names of cgroups */
	struct row_marks *marks; /* NULL: rows have no inclusive ticks */
	size_t nr_cut; /* contexts of a tree below --min, */
	uint64_t cut_ticks; /* and their ticks */
	double whole_ns; /* CPU time that is 100 % in a tree */
	/* The direct callers of the tree's function, then the function, then its callees. */
	struct report_row *neighbours;
	size_t nr_callers, nr_neighbours;
	char **notes;
	size_t nr_notes;
	bool hints_symfs; /* see struct report_options */
	bool by_class; /* rows are of a place and a class of waits */
};

void rows_free(struct report_rows *rows);

/* -EINVAL: the profile lacks what the options name. */
int rows_check(const struct profile *profile, const struct report_options *options,
	       struct error *err);

/* Whether it is a class of waits, which is no text. */
bool row_is_class(const struct report_options *options, const struct report_row *row);

/* Sets the CPU time of a row: its ticks at weight nanoseconds each. */
void row_weigh(struct report_row *row, double weight);

/* Turns a row of a bin into that of its function. A bin without a function stays. */
void row_use_function(struct report_row *row);

/* Appends a row; -ENOMEM. */
int rows_add(struct report_rows *rows, const struct report_row *row);

/* Sorts rows, and combines those that compare equal. */
void rows_merge(struct report_rows *rows, int (*compare)(const void *left, const void *right));

/*
 * Makes a row for each bin that the options choose, with its function, ascending by object and
 * offset. folds: one row for each function, and for each bin without one. With callers, which are
 * counted by bin, each bin has its row in any case.
 */
int rows_named(const struct profile *profile, const struct report_options *options, bool folds,
	       struct report_rows *rows, struct error *err);

/* Does the same for each bin, after checking the options. */
int rows_of_bins(const struct profile *profile, const struct report_options *options,
		 struct report_rows *rows, struct error *err);

/* Writes "; --symfs /proc/7/root has it" for a file that is missing at its path. */
#define SYMFS_HINT 96
void hint_symfs(const struct profile_object *object, char hint[SYMFS_HINT]);

/* Sets the source lines of rows of bins, from the objects' files. */
int rows_find_lines(const struct profile *profile, const struct object_opener *opener,
		    struct report_rows *rows, struct error *err);

/* Does the same, then combines rows by line. Rows without a line are combined by function. */
int rows_by_lines(const struct profile *profile, const struct object_opener *opener,
		  struct report_rows *rows, struct error *err);

/*
 * Does the same, then combines rows by source function, including inlined ones. Rows without a line
 * are combined as above.
 */
int rows_by_inlined(const struct profile *profile, const struct object_opener *opener,
		    struct report_rows *rows, struct error *err);

/*
 * Turns a row with a source into that of its source function. A row without one stays its
 * function's.
 */
void row_use_source(struct report_row *row);

/* The orders of bins by place, and of rows of source functions. */
int row_compare_place(const void *left, const void *right);
int row_compare_source(const void *left, const void *right);

/* Whether the options name the object, or no object at all. */
bool object_named(const struct profile *profile, const struct report_options *options,
		  uint32_t object);

/*
 * Whether the object's text may be in the table. For callers and callees, objects only select the
 * function, and all text may be shown.
 */
bool object_chosen(const struct profile *profile, const struct report_options *options,
		   uint32_t object);

/*
 * Sets, for each row, whether it matches options->function: a name as for --annotate, which may
 * lack namespaces, parameters and the like, or a pattern, unless it is a function's whole name. If
 * no function has the name, libc's variants of it match, and notes are added. Returns 0 or -ENOMEM.
 */
int rows_choose_functions(const struct profile *profile, const struct report_options *options,
			  struct report_rows *rows, bool *chosen);

/* The error that no function has this name: the option, where the name was expected, and a hint. */
struct function_refusal {
	const char *option;
	const char *where; /* "is in a chain" */
	const char *hint;
};

/*
 * Sets err, with similar names of rows. If there are none, the hint mentions text without names.
 * Sorts the rows. Returns -EINVAL or -ENOMEM.
 */
int rows_refuse_function(const struct profile *profile, const struct report_options *options,
			 const struct function_refusal *refusal, struct report_rows *rows,
			 struct error *err);

/* The row of the process, thread, cgroup or name that a histogram belongs to, with its ticks. */
struct report_row row_of_split(const struct profile_histogram *histogram, enum report_by by);

/* The order of these rows. Several processes may have had one pid, one after the other. */
int row_compare_split(const void *left, const void *right);

/* -EINVAL: the profile was not split by these. */
int rows_check_split(const struct profile *profile, enum report_by by, struct error *err);

/* Whether a process, or the cgroup of a target, may be in the table. */
bool split_chosen(const struct profile *profile, const struct report_options *options,
		  uint32_t target, const char *process);

/* Whether a histogram's ticks may be in the table. */
bool histogram_chosen(const struct profile *profile, const void *options,
		      const struct profile_histogram *histogram);

/* The command for such a profile: run or attach. */
const char *rows_command(const struct profile *profile);

/* The address of the row's first byte in the object's disassembly. */
uint64_t row_address(const struct profile *profile, const struct report_row *row);

/* The account that is 100 %: the profile's or a target's. */
const struct profile_account *rows_account(const struct profile *profile,
					   const struct report_options *options);

/* The CPU time of that account in nanoseconds, including time without ticks. */
double rows_ns(const struct profile *profile, const struct report_options *options);

/* Whether the scheduler measured all of that time. */
bool is_cpu_known(const struct profile *profile, const struct report_options *options);

/* Percentages of a time: of ns, and of a row. */
double share_of(double whole, double ns);
double row_percent(double ns, const struct report_row *row);

/*
 * Makes the rows of the view that options->by selects. Returns 0, or a negative errno with err
 * filled in. Call rows_free() in any case.
 */
int rows_build(const struct profile *profile, const struct report_options *options,
	       struct report_rows *rows, struct error *err);

/*
 * Does the same for one of several profiles, which may lack what the options name. A JIT's function
 * has a row for each place to which it was compiled.
 */
int rows_of_part(const struct profile *profile, const struct report_options *options,
		 struct report_rows *rows, struct error *err);

/* Sorts the hottest `nr` rows to the front, and leaves the rest in any order; 0: sorts all. */
void rows_sort(struct report_rows *rows, bool inclusive, size_t nr);

/*
 * Counts chains of callers by the rows of functions, lines or objects. Sets inclusive ticks and
 * times of rows with marks. With options->tree, replaces rows by that tree, parents before
 * children. -EINVAL: there is no such function.
 */
int rows_chains_finish(const struct profile *profile, const struct report_options *options,
		       struct report_rows *rows, struct error *err);

/*
 * Readable names of a profile's cgroups: the container's name, in Kubernetes
 * namespace/pod/container, plus the rest of the path below the container. Names are unique.
 */
struct cgroup_names;

struct cgroup_names *cgroup_names_new(const struct profile *profile); /* NULL: out of memory */
void cgroup_names_free(struct cgroup_names *names); /* NULL is fine */

/* NULL: it only has its path. Valid as long as names. */
const char *cgroup_names_find(const struct cgroup_names *names, const char *cgroup);

#endif
