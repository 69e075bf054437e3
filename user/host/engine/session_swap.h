/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SESSION_SWAP_H
#define BPFPROFIL_SESSION_SWAP_H

#include <stdint.h>

#include "base/error.h"

struct session;

/*
 * The kernel's table of ticks, and the session's own. session_plan() divides --memory; the next two
 * run between open and load, and after load. session_swap() closes the half in use and moves all
 * its ticks to the session's own table. It runs for each profile, and when the programs request it.
 */
int session_plan(struct session *session, struct error *err);
void session_size_halves(struct session *session);
int session_bind_halves(struct session *session, struct error *err);
int session_swap(struct session *session, struct error *err);
void session_poll_swap(struct session *session);
uint64_t session_bytes(const struct session *session); /* of kernel memory */

#endif
