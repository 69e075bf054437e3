/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_AGENT_OPTIONS_H
#define BPFPROFIL_AGENT_OPTIONS_H

#include "agent/agent.h"
#include "option/command.h"

/* The options of `agent` from its file, the environment and the command line. */
struct agent_arguments {
	struct agent_options agent;
	const char *config;
	size_t room_sinks; /* of agent.sinks */
	struct sink_options all; /* of all sinks, but for kind and place */
	struct choice_rule *rules;
	size_t room_rules;
	struct option_texts *texts; /* strings with no other owner: the file's lines, headers */
	char **headers; /* for OTLP, from the environment; ends with NULL */
	size_t nr_headers;
};

extern const struct opt agent_sink_opts[];
extern const struct opt agent_delivery_opts[];
extern const struct opt agent_choice_opts[];
extern const struct opt agent_listen_opts[];
extern const struct opt agent_config_opts[];

void agent_arguments_init(struct agent_arguments *arguments);
void agent_arguments_free(struct agent_arguments *arguments);

/*
 * Parses the lines of arguments->config, "name = value", like options on the command line. -EINVAL:
 * a line is wrong, and the message names it.
 */
int agent_config_read(const struct command *command, struct agent_arguments *arguments,
		      struct error *err);

/*
 * The path in the spool's folder for a copy of the file, once it works. NULL: no file was read,
 * there is no spool, or no memory.
 */
const char *agent_last_good(struct agent_arguments *arguments);

/* Reads OpenTelemetry's variables for options that were not given. */
int agent_environment_read(struct agent_arguments *arguments, struct error *err);

/*
 * Call it after reading everything: fills in arguments->agent. -EINVAL: the options contradict each
 * other.
 */
int agent_arguments_settle(struct agent_arguments *arguments, struct error *err);

#endif
