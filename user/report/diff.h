/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_DIFF_H
#define BPFPROFIL_DIFF_H

#include <stddef.h>

#include "report/report.h"

/*
 * Two profiles side by side. Shares of the time are compared, so the runs may have different
 * lengths and periods. Text is matched by build id or path and by the functions' names, wherever it
 * was loaded.
 */
struct diff_side {
	uint64_t ticks;
	double percent; /* of the profile's time */
	double ns; /* that time, and its variance: as for a report's row */
	double squares;
};

struct diff_row {
	const char *object; /* path, in the newer profile if the object is there */
	/* Function; NULL: all text without a symbol of one object, or a row of an object. */
	const char *name;
	size_t stem; /* bytes of the name by which it is compared */
	const char *caller,
		*caller_object; /* for rows of calls: as name and object; or "[cut: late]", NULL */
	const char *file; /* for rows of lines */
	uint32_t line;
	struct diff_side old, new;
	double change; /* new.percent - old.percent */
	double own_change; /* the same of the row's own ticks, where the figures are inclusive */
	double rank; /* the change by which it is sorted: that of a callee, if it only passes that on */
	double probability; /* that the change is noise, corrected for the number of rows */
	bool significant;
};

/* A change counts if its corrected probability is below this. */
#define DIFF_LEVEL 0.01

/*
 * An object of the old profile and the one of the new that it is compared with, as paths or their
 * ends.
 */
struct diff_map {
	const char *old, *new;
};

struct diff_options {
	enum report_by by; /* functions, objects or lines */
	bool inclusive; /* a row has what it called, too; not lines; both profiles must have callers */
	bool calls; /* a row for each function and direct caller of it; inclusive */
	const struct diff_map *maps;
	size_t nr_maps;
	const char *old_name, *new_name; /* file names of the profiles for the reader; or NULL */
};

/* All of the time. Where it is the scheduler's on both sides, it is not sampled, and has no noise. */
struct diff_total {
	double old_ns, new_ns;
	bool is_sampled;
	double probability; /* that the change is noise, if it is sampled */
};

struct diff {
	const struct profile *old, *new;
	const struct diff_options *options;
	struct diff_row *rows; /* changes that are not noise first; the largest first */
	size_t nr;
	size_t significant;
	struct diff_total total;
	char **notes; /* sentences about which objects are compared with which */
	size_t nr_notes;
	struct diff_text *text; /* owns what the rows point to */
};

/*
 * Returns 0 or a negative errno; call diff_free() in any case. -EINVAL: a map names an object that
 * is not in its profile. The options must outlive the diff.
 */
int diff_build(const struct profile *old, const struct profile *new,
	       const struct diff_options *options, struct diff *result, struct error *err);
void diff_free(struct diff *diff);

/*
 * How many rows have a share that grew by more than percent of the time, and not by noise. Where the newer of
 * two runs of a command took less time in all, rows whose seconds did not grow beyond what runs differ by are
 * spared, because their shares grew as others fell.
 */
size_t diff_above(const struct diff *diff, double percent, size_t *ret_spared);

/* What a row stands for: the word of --by. */
const char *diff_word(const struct diff *diff);

/* Uses these options: format, limit, color and width. */
void diff_write(const struct diff *diff, const struct report_options *options, FILE *out);

/*
 * Writes three tables of the same two profiles as text: with what functions called, by calls, and alone. Of the
 * first two only rows beyond noise, or a few if there are none.
 */
void diff_write_all(const struct diff *inclusive, const struct diff *calls,
		    const struct diff *alone, const struct report_options *options, FILE *out);

#endif
