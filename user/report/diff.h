/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_DIFF_H
#define BPFPROFIL_DIFF_H

#include "report/report.h"

/*
 * Two profiles side by side. What is compared is the share of the time, so that runs of other lengths
 * and periods compare too; text is found again by build id or path and the functions' names,
 * wherever it was loaded.
 */
struct diff_side {
	uint64_t ticks;
	double percent; /* of the time of its profile */
	double ns; /* that time, and by what it varies: as of a report's row */
	double squares;
};

struct diff_row {
	const char *object; /* path, as the newer profile has it if it has it */
	const char *name; /* function; NULL: text without a symbol, or by objects */
	const char *file; /* by lines */
	uint32_t line;
	struct diff_side old, new;
	double change; /* new.percent - old.percent */
	double probability; /* that it is noise, corrected for the number of rows */
	bool significant;
};

/* The corrected probability below which a change counts as one. */
#define DIFF_LEVEL 0.01

/* An object of the old profile and the one of the new that it is compared as: paths or their ends. */
struct diff_map {
	const char *old, *new;
};

struct diff_options {
	enum report_by by; /* functions, objects or lines */
	const struct diff_map *maps;
	size_t nr_maps;
	const char *old_name, *new_name; /* of the profiles' files, for the reader; or NULL */
};

struct diff {
	const struct profile *old, *new;
	const struct diff_options *options;
	struct diff_row *rows; /* changes that are none of noise first, the largest first */
	size_t nr;
	size_t significant;
	char **notes; /* sentences on which objects are compared as which */
	size_t nr_notes;
	struct diff_text *text; /* owns what rows point to */
};

/*
 * 0 or a negative errno; diff_free() in either case. -EINVAL: a map names what is not in a profile.
 * The options outlive the diff.
 */
int diff_build(const struct profile *old, const struct profile *new,
	       const struct diff_options *options, struct diff *ret, struct error *err);
void diff_free(struct diff *diff);

/* How many rows have a share that grew by more than percent of the time, and not by noise. */
size_t diff_above(const struct diff *diff, double percent);

/* Of options format, limit, color and width count. */
void diff_write(const struct diff *diff, const struct report_options *options, FILE *out);

#endif
