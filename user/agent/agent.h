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
 * The agent samples all processes of this host, and passes a profile to each sink every interval.
 * It keeps sampling whatever happens to the sinks.
 */
struct agent_options {
	struct sampling_options sampling;
	struct sink_options *sinks;
	size_t nr_sinks;
	struct listen_options listen;
	struct agent_choice choice; /* its identities belong to the agent */
	const char *config; /* the file of options; NULL: none */
	struct stat config_read; /* from just before the file was read; all 0: it did not exist */
	const char *spool; /* the folder of all spools; NULL: none */
	enum old_spools_choice old_spools;
	const char *last_good; /* where to keep a copy of a file that worked; NULL: nowhere */
};

enum agent_end {
	AGENT_FAILED,
	AGENT_NOT_BEGUN, /* these options failed; the sinks are unchanged */
	AGENT_STOPPED, /* by SIGTERM or SIGINT */
	AGENT_RELOAD, /* by SIGHUP or a changed file of options: pending profiles are kept */
};

struct agent {
	struct sink **sinks;
	size_t nr_sinks;
	struct figures figures;
	struct identities *identities;
	struct error config_error; /* why the file of options is not in force; text "": it is */
	uint64_t unsampled_ns; /* unsampled time before the next profile */
	uint64_t parts_ticks; /* in parts that no profile includes yet */
	struct state state; /* for the next session, even of another agent */
	struct cgroups cgroups;
	bool said_nameless; /* a message has said that pods have no names */
	bool ready; /* systemd was notified */
};

/*
 * Drops the capabilities that these options do not need. Call it before starting any thread, and
 * agent_close() in any case.
 */
int agent_open(struct agent *agent, const struct agent_options *options, struct error *err);

/*
 * Runs until a signal. New sinks take over the pending profiles of earlier sinks of the same kind
 * and place.
 */
enum agent_end agent_run(struct agent *agent, struct agent_options *options, struct error *err);

/* Waits a few more seconds for pending profiles to be delivered. */
void agent_close(struct agent *agent);

#endif
