/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SESSION_SPLITS_H
#define BPFPROFIL_SESSION_SPLITS_H

#include <stdint.h>

#include "base/error.h"
#include "shared/abi.h"

struct counted;
struct profile;
struct session;

/*
 * The CPU time of the targets. It counts from the first of these calls on, and is brought up to
 * date before each profile. After sampling has ended it waits for threads that were reaped, because
 * the last runtime of a thread is only known when it is freed.
 */
int session_begin_runtime(struct session *session, struct error *err);
void session_set_period(struct session *session);
int session_pause_runtime(struct session *session, struct error *err);
int session_settle_runtime(struct session *session, struct error *err);
int session_finish_runtime(struct session *session, struct error *err);

/* Around a time without ticks: PASS_TICKS_OFF or PASS_TICKS_ON. No tick falls during either. */
int session_switch_ticks(struct session *session, enum pass_kind kind, struct error *err);

/* Names the processes or threads that were read. */
int session_name_splits(struct session *session, struct error *err);

/* If cgroups are chosen, reads the splits once more, after the accounts. */
void session_reread_runtime(struct session *session);

/* The sum over all splits of a target. */
uint64_t session_split_ns(const struct session *session, uint32_t target);

/*
 * Writes the times of the splits into the profile. split_ids has the split of each of its
 * histograms. Returns 0 or -ENOMEM.
 */
int session_fill_splits(struct session *session, const struct counted *counted,
			const uint64_t *split_ids, struct profile *profile);

/*
 * Does the same for a profile without ticks: cgroups that have names. Adds their time to their
 * targets.
 */
int session_fill_times(const struct session *session, struct profile *profile);

#endif
