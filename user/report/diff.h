/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_DIFF_H
#define BPFPROFIL_DIFF_H

#include <stddef.h>

#include "profile/profile_rows.h"
#include "report/report.h"

/*
 * Compares two profiles. Shares of the time are compared. Therefore the runs may have different
 * lengths and periods. Text is matched by build id or path, and by names of functions, wherever it
 * was loaded.
 */
struct diff_side {
	struct tick_sum sum;
	double percent; /* of the profile's time */
	uint64_t waits; /* their number */
};

struct diff_row {
	const char *object; /* path, in the newer profile if the object is there */
	/* Function; NULL: all text without a symbol of one object, or a row of an object. */
	const char *name;
	size_t stem; /* bytes of the name that are compared */
	const char *wait_class; /* for waits */
	const char *caller, *caller_object; /* for rows of calls; or "[cut: late]", NULL */
	const char *file; /* for rows of lines */
	uint32_t line;
	struct diff_side old, new;
	double change; /* new.percent - old.percent */
	double own_change; /* inclusive figures only: the change of the row's own ticks */
	double rank; /* the change to sort by: a callee's, if the row only passes it on */
	double probability; /* that the change is noise, corrected for the number of rows */
	bool significant;
};

/* A change counts if its corrected probability is below this. */
#define DIFF_LEVEL 0.01

/* Compares an object of the old profile with one of the new, by paths or their last components. */
struct diff_map {
	const char *old, *new;
};

struct diff_options {
	enum report_by by; /* functions, objects or lines */
	bool inclusive; /* rows include callees; not for lines; needs callers in both profiles */
	bool calls; /* a row for each function and direct caller; inclusive */
	const struct diff_map *maps;
	size_t nr_maps;
	const char *old_name, *new_name; /* file names to show; or NULL */
	/* The profiles are these views, of waits, whose time is compared, not their shares. */
	const struct waits_view *old_waits, *new_waits;
};

/* All CPU time. If it is from the scheduler on both sides, it has no noise of sampling. */
struct diff_total {
	double old_ns, new_ns;
	bool is_sampled;
	double probability; /* that the change is noise; only if it is sampled */
};

struct diff {
	const struct profile *old, *new;
	const struct diff_options *options;
	struct diff_row *rows; /* significant ones first, the largest changes first */
	size_t nr;
	size_t significant;
	struct diff_total total;
	char **notes; /* sentences on how objects were paired */
	size_t nr_notes;
	struct diff_text *text; /* owns the strings */
};

/*
 * Returns 0 or a negative errno; call diff_free() in any case. -EINVAL: a map names an object that
 * is not in its profile. The options must outlive the diff.
 */
int diff_build(const struct profile *old, const struct profile *new,
	       const struct diff_options *options, struct diff *result, struct error *err);
void diff_free(struct diff *diff);

/*
 * Counts rows whose share grew by more than percent of the time, beyond noise. If the newer of two
 * runs took less time, shares of unchanged rows grow as well. Rows whose seconds did not grow
 * beyond differences of equal runs are therefore spared, and counted in *ret_spared.
 */
size_t diff_above(const struct diff *diff, double percent, size_t *ret_spared);

/* The noun for a row: the word of --by. */
const char *diff_word(const struct diff *diff);

/* Uses these options: format, limit, color and width. Of waits it has their seconds and numbers. */
void diff_write(const struct diff *diff, const struct report_options *options, FILE *out);

/*
 * Writes three tables as text: inclusive, by calls, and exclusive. The first two have only rows
 * beyond noise, or a few if there are none.
 */
void diff_write_all(const struct diff *inclusive, const struct diff *calls,
		    const struct diff *alone, const struct report_options *options, FILE *out);

#endif
