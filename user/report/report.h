/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_REPORT_H
#define BPFPROFIL_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "profile/profile.h"

enum report_by {
	REPORT_FUNCTIONS,
	REPORT_OBJECTS,
	REPORT_LINES,
	REPORT_BINS,
	REPORT_PROCESSES,
	REPORT_CGROUPS,
	REPORT_THREADS,
	REPORT_TIME
};
enum report_format { REPORT_TEXT, REPORT_CSV, REPORT_JSON };

/* The words of enum report_by, ended by NULL: --by, and "by" in JSON. */
extern const char *const report_by_words[];

#define REPORT_ALL_TARGETS UINT64_MAX

struct timeline;

struct report_options {
	enum report_by by;
	bool inlined; /* REPORT_FUNCTIONS of the source: what was inlined apart from where it is */
	enum report_format format;
	uint64_t limit; /* rows at most; 0: all */
	/* Only these, by path or last component, of which the version may be missing; none: all. */
	const char *const *objects;
	size_t nr_objects;
	const char *comm; /* only processes or threads whose names fit this pattern; NULL: all */
	const char *function; /* only rows of functions whose names do */
	uint64_t target; /* id, or REPORT_ALL_TARGETS */
	const char *symfs; /* folder that the objects' files are below; NULL: where they were */
	const struct timeline *timeline; /* the files that the profile is the sum of; NULL: one */
	bool color;
	unsigned int width; /* columns that rows may have; 0: nothing is cut */
};

/*
 * A table of the profile on out. Whether out took it all is the caller's to see (ferror). -EINVAL:
 * no such object or target, or the profile does not tell processes or cgroups apart.
 */
int report_write(const struct profile *profile, const struct report_options *options, FILE *out,
		 struct error *err);

/* The account of a run alone: what was sampled, the identity, the notes. */
void report_account(const struct profile *profile, FILE *out);

/* What run says at its end: the account, the ten hottest functions. */
int report_summary(const struct profile *profile, bool color, unsigned int width, FILE *out,
		   struct error *err);

#endif
