/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_AGENT_H
#define BPFPROFIL_AGENT_H

#include "agent/figures.h"
#include "agent/listen.h"
#include "agent/sink.h"
#include "record/options.h"
#include "target/targets.h"

/*
 * All processes of this host for good: every interval a profile to each sink. Sampling goes on
 * whatever becomes of the sinks.
 */
struct agent_options {
	struct sampling_options sampling;
	struct sink_options *sinks;
	size_t nr_sinks;
	struct listen_options listen;
};

enum agent_end {
	AGENT_FAILED,
	AGENT_STOPPED, /* by SIGTERM or SIGINT */
	AGENT_RELOAD, /* by SIGHUP: what waits is still there */
};

struct agent {
	struct sink **sinks;
	size_t nr_sinks;
	struct figures figures;
	bool ready; /* was said once */
};

void agent_open(struct agent *agent);

/*
 * Until a signal. Of sinks that were there before what waits goes on to those of the same kind and
 * place.
 */
enum agent_end agent_run(struct agent *agent, struct agent_options *options, struct error *err);

/* Gives what waits a few seconds more. */
void agent_close(struct agent *agent);

#endif
