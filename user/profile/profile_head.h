/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFILE_HEAD_H
#define BPFPROFIL_PROFILE_HEAD_H

#include <time.h>

#include "profile/profile.h"

/* Who wrote a profile, when and on which host. 0 or -ENOMEM. */
int profile_fill_head(struct profile *profile, time_t started);

/* How ticks came about: the profile keeps copies of the words. 0 or -ENOMEM. */
int profile_fill_sampling(struct profile *profile, const char *source, const char *mode,
			  uint64_t period_ns, double requested_hz);

/* By which cgroups: controller is of version 1, NULL for version 2. 0 or -ENOMEM. */
int profile_fill_split(struct profile *profile, const char *split);
int profile_fill_hierarchy(struct profile *profile, const char *controller);

/* The whole account, which is the sum of the targets': a tick belongs to one of them. */
int profile_sum_targets(struct profile *profile);

#endif
