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
 * All counts of top, as a profile that can be written at any time. Its memory is limited, however
 * many processes come and go: at the limit, the profile is no longer split by process and cgroup,
 * and if that is not enough, earlier counts are dropped. A note in the profile says so.
 */
struct kept {
	struct profile_merger sum; /* of all intervals except the last */
	size_t elements_max;
	bool unsplit;
	bool given_up;
	bool has_last; /* the sum includes the last interval, too */
	struct series files; /* names of the written files */
};

/* pattern is FILE, with %p, %t and %h; it must outlive kept. */
int kept_init(struct kept *kept, const char *pattern, struct error *err);

/* Adds and owns the last interval's profile, at the end of the next one. */
int kept_add(struct kept *kept, struct profile *last, struct error *err);

/*
 * Writes everything with the last interval's profile; the caller gets a copy of that. The file has
 * a name by now. If it replaces a file, that stays as FILE.old.
 */
int kept_save(struct kept *kept, struct profile **last, time_t now, struct error *err);

/* Calls show() with the profile that kept_save() would write. */
int kept_show(struct kept *kept, struct profile **last,
	      int (*show)(struct profile *sum, void *of, struct error *err), void *of,
	      struct error *err);

/* The name of the last written file; NULL: none. */
const char *kept_name(const struct kept *kept);

void kept_free(struct kept *kept);

#endif
