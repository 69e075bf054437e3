/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_KEPT_H
#define BPFPROFIL_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "base/error.h"
#include "profile/profile.h"
#include "profile/profile_merge.h"
#include "host/record/series.h"

/*
 * All that a live view has counted, as one profile that can be written at any time. Its memory is
 * limited, however many processes come and go: at the limit processes and cgroups are no longer
 * told apart, and if that is not enough, what was counted so far is given up. The profile says so.
 */
struct kept {
	struct profile_merger sum; /* of all intervals but the last one */
	size_t elements_max;
	bool unsplit;
	bool given_up;
	bool has_last; /* the sum includes the last one too */
	struct series files; /* the files written so far */
};

/* pattern is FILE, with %p, %t and %h; it must outlive kept. */
int kept_init(struct kept *kept, const char *pattern, struct error *err);

/* Takes over the last interval's profile when the next interval is over. */
int kept_add(struct kept *kept, struct profile *last, struct error *err);

/*
 * Writes all, together with the last interval's profile, of which the caller gets a copy. FILE is
 * named by now; a file that it replaces stays as FILE.old.
 */
int kept_save(struct kept *kept, struct profile **last, time_t now, struct error *err);

/* Calls show() with all of it, as kept_save() writes it. */
int kept_show(struct kept *kept, struct profile **last,
	      int (*show)(struct profile *sum, void *of, struct error *err), void *of,
	      struct error *err);

/* The name of the file written last; NULL: there is none. */
const char *kept_name(const struct kept *kept);

void kept_free(struct kept *kept);

#endif
