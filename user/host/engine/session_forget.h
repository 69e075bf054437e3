/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SESSION_FORGET_H
#define BPFPROFIL_SESSION_FORGET_H

struct session;

/* After a profile was made: removes the ticks that it has, and cgroups without threads. */
void session_forget_taken(struct session *session);

/* Frees texts whose numbers were freed, once no tick is in them. */
void session_forget_texts(struct session *session);

/* Between takes: makes room for texts if numbers are short. */
void session_reclaim_texts(struct session *session);

#endif
