/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_REPORT_H
#define BPFPROFIL_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "profile/profile.h"
#include "report/report_options.h"

/*
 * Writes a table of the profile. The caller checks ferror(out). -EINVAL: there is no such object or
 * target, or the profile is not split by processes or cgroups.
 */
int report_write(const struct profile *profile, const struct report_options *options, FILE *out,
		 struct error *err);

/* Writes only the tree that options->tree selects, of a profile with callers. */
int report_tree(const struct profile *profile, const struct report_options *options, FILE *out,
		struct error *err);

/*
 * Writes the wall time of a profile with waits, and a table of these. The options may limit its
 * rows and columns.
 */
int report_waits(const struct profile *profile, const struct report_options *options, FILE *out,
		 struct error *err);

/* Writes only the account: what was sampled, the identity, and notes. */
void report_account(const struct profile *profile, FILE *out);

/* Writes the summary at the end of run: the account and the ten hottest functions. */
int report_summary(const struct profile *profile, bool color, unsigned int width, FILE *out,
		   struct error *err);

/*
 * Compares ticks with the CPU time that the scheduler measured. Chance alone makes them differ by a
 * few square roots of their number. If a program's bursts are in step with the clock, it gets far
 * too few ticks, or too many.
 */
enum { CPU_TIME_NOTES = 2, CPU_TIME_NOTE_BYTES = 512 };

struct cpu_time_notes {
	char text[CPU_TIME_NOTES][CPU_TIME_NOTE_BYTES]; /* sentences, maybe with a process name */
	size_t nr;
};

/*
 * Finds the largest differences beyond chance, and CPU time without ticks, for all targets or one.
 * Returns 0 or -ENOMEM.
 */
int cpu_time_compare(const struct profile *profile, uint64_t target, struct cpu_time_notes *result);

#endif
