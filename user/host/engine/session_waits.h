/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SESSION_WAITS_H
#define BPFPROFIL_SESSION_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "host/engine/kernel_modules.h"
#include "host/engine/store_profile.h"

struct session;

/* All do nothing without --waits. The first runs between open and load, the second after load. */
int session_configure_waits(struct session *session, struct error *err);
int session_bind_waits(struct session *session, struct error *err);
void session_free_waits(struct session *session);

/* The wall time of threads counts from session_begin_waits() to session_end_waits(). */
int session_begin_waits(struct session *session, bool has_threads, struct error *err);
int session_end_waits(struct session *session, struct error *err);

/*
 * In a swap: before the halves change, threads begin to count in the other half. After it, the last
 * waits move there. The rest is added to the session's own waits.
 */
int session_cut_waits(struct session *session, struct error *err);
int session_move_waits(struct session *session, struct error *err);
int session_add_waits(struct session *session, const struct closed_half *ticks, struct error *err);

void session_poll_waits(struct session *session);

/*
 * The memory of the session's own waits. The next ones join them like store_sum_splits(), and make
 * them smaller than a limit.
 */
uint64_t session_waits_bytes(const struct session *session);
int session_sum_waits(struct session *session,
		      uint64_t (*sum_of)(void *ctx, uint32_t target, uint64_t split));
void session_limit_waits(struct session *session, uint64_t limit);

/* Fills in a profile's waits, after its ticks, and removes those that were filled in. */
int session_fill_waits(struct session *session, struct seen_names *names,
		       const struct kernel_modules *modules, struct profile *profile,
		       struct error *err);
void session_clear_waits(struct session *session);

#endif
