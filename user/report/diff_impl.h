/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_DIFF_IMPL_H
#define BPFPROFIL_DIFF_IMPL_H

#include "report/diff.h"
#include "report/rows.h"

/* One profile and where its objects stand in the comparison. */
struct diff_profile {
	const struct profile *profile;
	struct report_rows rows;
	const struct profile_object **as; /* for each object the one it is compared as */
	double ns; /* its time in all */
	double unit; /* nanoseconds of a tick, in the mean over the time in rows */
};

struct diff_text {
	struct diff_profile old, new;
};

/*
 * Finds what each object is compared as, and says so where that is a guess or there is none. 0,
 * -ENOMEM, or -EINVAL for a map that names nothing.
 */
int diff_pair_objects(struct diff *diff, struct error *err);

#endif
