/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SESSION_TARGETS_H
#define BPFPROFIL_SESSION_TARGETS_H

#include "base/error.h"

struct session;

/*
 * The targets in the options. Call these in this order: copy the targets; between open and load,
 * set knobs and map sizes for them; before the programs are attached, enter the cgroups, because
 * programs remember what they find for a cgroup; afterwards follow the processes.
 */
int session_add_targets(struct session *session, struct error *err);
int session_configure_targets(struct session *session, struct error *err);
int session_enter_cgroups(struct session *session, struct error *err);
int session_follow_targets(struct session *session, struct error *err);

#endif
