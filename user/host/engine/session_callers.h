/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SESSION_CALLERS_H
#define BPFPROFIL_SESSION_CALLERS_H

#include <stdint.h>

#include "base/error.h"

struct session;

/* With --callers: plans the memory for rules; sizes maps before load; maps them after it. */
uint64_t session_plan_callers(struct session *session);
void session_configure_callers(struct session *session);
int session_bind_callers(struct session *session, struct error *err);

/*
 * With --callers or --waits: a process in which a file was first seen is searched for the other
 * files that it maps.
 */
void session_note_starting(struct session *session, uint32_t tgid);
void session_poll_starting(struct session *session);

#endif
