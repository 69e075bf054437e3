/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SESSION_COST_H
#define BPFPROFIL_SESSION_COST_H

#include "base/error.h"

struct session;

/* Without the privilege to measure, sampling works, and the cost is unknown. */
int session_begin_cost(struct session *session, struct error *err);

#endif
