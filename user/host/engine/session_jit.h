/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SESSION_JIT_H
#define BPFPROFIL_SESSION_JIT_H

#include "base/error.h"

struct profile;
struct seen_names;
struct session;
struct space_info;

/*
 * Follows the perf map of each process with anonymous text. The map is read when it grows, and
 * before a profile is made. session_note_jit() notes in the profile how far it was read (-ENOMEM).
 */
int session_open_jit(struct session *session, struct error *err);
void session_close_jit(struct session *session);
void session_new_text(struct session *session, struct space_info *info);
void session_free_text(struct session *session, struct space_info *info);
void session_poll_jit(struct session *session);
void session_read_jit(struct session *session);
int session_note_jit(const struct session *session, const struct seen_names *names,
		     struct profile *profile);

#endif
