/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SESSION_STARTING_H
#define BPFPROFIL_SESSION_STARTING_H

#include <stdint.h>

#include "base/error.h"

struct session;

/*
 * With --callers: a process in which a file was first seen is searched for the other files that it
 * maps.
 */
int session_open_starting(struct session *session, struct error *err);
void session_note_starting(struct session *session, uint32_t tgid);
void session_poll_starting(struct session *session);
void session_wake_at(struct session *session, uint64_t when); /* polls then too */
void session_close_starting(struct session *session);

#endif
