/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SESSION_PROFILE_H
#define BPFPROFIL_SESSION_PROFILE_H

#include <stdint.h>

#include "base/error.h"

struct counted;
struct profile;
struct session;
struct wall_clock;

/*
 * session_fill_head() sets the clock that the profile is dated by. session_fill() fills the profile
 * once all is read, and uses up the counters of bins and accounts.
 */
int session_fill_head(const struct session *session, uint64_t until, struct wall_clock *ret_clock,
		      struct profile *profile, struct error *err);
int session_fill(struct session *session, const struct counted *counted, struct profile *profile,
		 struct error *err);

/* Adds the targets with their names. */
int session_name_targets(const struct session *session, struct profile *profile); /* -ENOMEM */

#endif
