/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SESSION_RECORDS_H
#define BPFPROFIL_SESSION_RECORDS_H

#include "base/error.h"

struct session;

/*
 * The programs' announcements. With --callers, session_announce_texts() has running targets' texts
 * announced, and waits for their tables of rules.
 */
int session_open_records(struct session *session, struct error *err);
int session_consume_records(struct session *session, struct error *err);
int session_read_records(struct session *session, struct error *err); /* and perf maps */
int session_announce_texts(struct session *session, struct error *err);

#endif
