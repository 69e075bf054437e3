/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_KEPT_H
#define BPFPROFIL_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "base/error.h"
#include "profile/profile.h"
#include "profile/profile_merge.h"
#include "record/series.h"

/*
 * All that a live view has counted, as one profile that can be written at any time. Its memory has a
 * limit, however many processes come and go: at it processes and cgroups are told apart no more, and
 * should that not do, what was counted up to then is given up; the profile says so.
 */
struct kept {
	struct profile_merger sum; /* of all intervals but the last */
	size_t elements_max;
	bool unsplit;
	bool given_up;
	bool has_last; /* the last one, too */
	struct series files; /* written so far */
};

/* pattern: FILE, with %p, %t and %h. Outlives it. */
int kept_init(struct kept *kept, const char *pattern, struct error *err);

/* The last interval's profile when the next one is over; it is this list's from then on. */
int kept_add(struct kept *kept, struct profile *last, struct error *err);

/*
 * Writes all, with the last interval's profile, for which the caller has a copy then. FILE is named
 * by now; one that it replaces stays as FILE.old.
 */
int kept_save(struct kept *kept, struct profile **last, time_t now, struct error *err);

/* The name of the file written last; NULL: none was. */
const char *kept_name(const struct kept *kept);

void kept_free(struct kept *kept);

#endif
