/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PRIVILEGES_H
#define BPFPROFIL_PRIVILEGES_H

#include "agent/agent.h"
#include "base/error.h"

/*
 * Gives up the capabilities that these options do not need, see keep_rights(). Call it before there
 * is another thread.
 */
int privileges_drop(const struct agent_options *options, struct error *err);

#endif
