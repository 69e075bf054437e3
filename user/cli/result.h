/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_RESULT_H
#define BPFPROFIL_RESULT_H

#include "cli/sampling.h"
#include "engine/session.h"

/*
 * From a stopped session to a file and a summary on stderr: names, regions, FILE, the account and
 * the hottest functions. argv: COMMAND, NULL without one; cpu_ns: the CPU time it is known to have
 * used, 0 when it is not.
 */
int result_write(struct session *session, const struct sampling_options *options, char **argv,
		 uint64_t cpu_ns, const char *output, struct error *err);

#endif
