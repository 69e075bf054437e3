/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SESSION_COST_H
#define BPFPROFIL_SESSION_COST_H

#include "base/error.h"

struct session;

/* Starts to measure. Without CAP_SYS_ADMIN, sampling works, and the clock's cost is unknown. */
int session_open_cost(struct session *session, struct error *err);

#endif
