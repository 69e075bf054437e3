/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SESSION_STARTING_H
#define BPFPROFIL_SESSION_STARTING_H

#include <stdint.h>

struct session;

/*
 * With --callers or --waits: a process in which a file was first seen is searched for the other files that it
 * maps.
 */
void session_note_starting(struct session *session, uint32_t tgid);
void session_poll_starting(struct session *session);

#endif
