/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_AGENT_H
#define BPFPROFIL_AGENT_H

#include <sys/stat.h>

#include "agent/choice.h"
#include "agent/figures.h"
#include "agent/listen.h"
#include "agent/old_spools.h"
#include "agent/state.h"
#include "agent/sink.h"
#include "host/record/options.h"
#include "host/targets/targets.h"

/*
 * Samples all processes of this host indefinitely, and gives each sink a profile every interval.
 * Sampling goes on whatever happens to the sinks.
 */
struct agent_options {
	struct sampling_options sampling;
	struct sink_options *sinks;
	size_t nr_sinks;
	struct listen_options listen;
	struct agent_choice choice; /* its identities are the agent's */
	const char *config; /* the file that they are from; NULL: none */
	struct stat config_read; /* what it was just before it was read; all 0: not there */
	const char *spool; /* the folder of all spools; NULL: none */
	enum old_spools_choice old_spools;
	const char *last_good; /* where a copy of one that worked is kept; NULL: nowhere */
};

enum agent_end {
	AGENT_FAILED,
	AGENT_NOT_BEGUN, /* with these options; sinks are as they were */
	AGENT_STOPPED, /* by SIGTERM or SIGINT */
	AGENT_RELOAD, /* by SIGHUP or another file of options: pending profiles are kept */
};

struct agent {
	struct sink **sinks;
	size_t nr_sinks;
	struct figures figures;
	struct identities *identities;
	struct error config_error; /* of a file that is not in force; text "": it is */
	uint64_t hole_ns; /* for how long nothing was sampled before; for the next profile */
	uint64_t parts_ticks; /* in parts that are in no profile yet */
	struct state state; /* for the next session, which may be another agent's */
	struct cgroups cgroups;
	bool said_nameless; /* that pods have no names */
	bool ready; /* systemd has been told that it is ready */
};

/*
 * Gives up the capabilities that these options do not need. Call it before there is another thread,
 * and agent_close() in any case.
 */
int agent_open(struct agent *agent, const struct agent_options *options, struct error *err);

/*
 * Runs until a signal. Pending profiles of earlier sinks go to the new ones of the same kind and
 * place.
 */
enum agent_end agent_run(struct agent *agent, struct agent_options *options, struct error *err);

/* Gives pending profiles a few more seconds. */
void agent_close(struct agent *agent);

#endif
