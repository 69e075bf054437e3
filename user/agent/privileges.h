/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PRIVILEGES_H
#define BPFPROFIL_PRIVILEGES_H

#include <stdbool.h>

#include "agent/agent.h"
#include "base/error.h"

/* Capabilities that only some options need. */
struct privileges {
	bool admin; /* CAP_SYS_ADMIN: run time of BPF programs; perf events if paranoid */
	bool write_anywhere; /* CAP_DAC_OVERRIDE and CAP_CHOWN: folders and files of other users */
};

struct privileges privileges_for(const struct agent_options *options);

/*
 * Gives up all other capabilities for good, of this thread, of threads that it starts later, and of
 * programs that they start. Call it before there is another thread.
 */
int privileges_drop(const struct privileges *keep, struct error *err);

#endif
