// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <stdlib.h>

#include "agent/agent_options.h"
#include "host/sampling.h"

/*
 * Reads the file, then the command line, which has precedence, then the environment. False: exit
 * with *ret_status.
 */
static bool read_all(int argc, char **argv, struct agent_arguments *arguments, int *ret_status)
{
	struct error err = { 0 };
	const char *config;
	int first, code = 0;

	agent_arguments_init(arguments);
	if (!command_parse(&command_agent, argc, argv, arguments, &first, ret_status))
		return false;
	*ret_status = EXIT_USAGE;
	if (first < argc) {
		print_message("bpfprofil agent --help", "agent: '%s': takes no argument",
			      argv[first]);
		return false;
	}
	config = arguments->config;
	if (config) {
		agent_arguments_free(arguments);
		agent_arguments_init(arguments);
		arguments->config = arguments->agent.config = config;
		if (stat(config, &arguments->agent.config_read))
			arguments->agent.config_read = (struct stat){ 0 };
		code = agent_config_read(&command_agent, arguments, &err);
		if (!code &&
		    !command_parse(&command_agent, argc, argv, arguments, &first, ret_status))
			return false;
	}
	if (!code)
		code = agent_environment_read(arguments, &err);
	if (!code)
		code = agent_arguments_settle(arguments, &err);
	if (code)
		print_error(&err);
	*ret_status = code == -EINVAL ? EXIT_USAGE : EXIT_FAILURE;
	return !code;
}

static void free_arguments(struct agent_arguments *arguments)
{
	if (arguments)
		agent_arguments_free(arguments);
	free(arguments);
}

/* What was read is no news any more, although it does not work. */
static void keep(struct agent_arguments *former, const struct agent_arguments *read)
{
	if (read)
		former->agent.config_read = read->agent.config_read;
	print_message(NULL, "agent: the options stay as they were");
}

/* Reads everything again. Returns the former options; NULL: there was an error, and they stay. */
static struct agent_arguments *reload(int argc, char **argv, struct agent_arguments **arguments)
{
	struct agent_arguments *read = calloc(1, sizeof(*read)), *former = *arguments;
	int status;

	if (!read || !read_all(argc, argv, read, &status)) {
		keep(former, read);
		free_arguments(read);
		return NULL;
	}
	*arguments = read;
	return former;
}

/* Runs until the end. Options that were read again and do not work are given up for the former ones. */
static enum agent_end run_on(int argc, char **argv, struct agent *agent,
			     struct agent_arguments **arguments)
{
	struct agent_arguments *former = NULL;
	struct error err = { 0 };
	enum agent_end end;

	do {
		end = agent_run(agent, &(*arguments)->agent, &err);
		if (end == AGENT_NOT_BEGUN && former) {
			keep(former, *arguments);
			free_arguments(*arguments);
			*arguments = former;
			former = NULL;
			end = agent_run(agent, &(*arguments)->agent, &err);
		}
		free_arguments(former);
		former = end == AGENT_RELOAD ? reload(argc, argv, arguments) : NULL;
	} while (end == AGENT_RELOAD);
	return end;
}

static int run(int argc, char **argv)
{
	struct agent_arguments *arguments = calloc(1, sizeof(*arguments));
	struct agent agent;
	struct error err = { 0 };
	enum agent_end end = AGENT_FAILED;
	int status = EXIT_FAILURE;

	if (!arguments) {
		print_message(NULL, "agent: out of memory");
		return EXIT_FAILURE;
	}
	if (read_all(argc, argv, arguments, &status)) {
		if (agent_open(&agent, &arguments->agent, &err))
			print_error(&err);
		else
			end = run_on(argc, argv, &agent, &arguments);
		agent_close(&agent);
		status = end == AGENT_STOPPED ? EXIT_SUCCESS : EXIT_FAILURE;
	}
	free_arguments(arguments);
	return status;
}

static const struct opt_group agent_groups[] = {
	{ .title = "Sinks", .opts = agent_sink_opts },
	{ .title = "Delivery", .opts = agent_delivery_opts },
	{ .title = "Choosing and naming", .opts = agent_choice_opts },
	{ .title = "Sampling",
	  .opts = sampling_agent_opts,
	  .base = offsetof(struct agent_arguments, agent.sampling) },
	{ .title = "Listening", .opts = agent_listen_opts },
	{ .title = "Configuration", .opts = agent_config_opts },
	{ 0 }
};

static const struct command_example agent_examples[] = {
	{ "to an OpenTelemetry collector, a profile a minute for each cgroup",
	  "sudo bpfprofil agent --otlp http://localhost:4318" },
	{ "to Pyroscope, and as files", "sudo bpfprofil agent --pyroscope http://localhost:4040 "
					"--dir /var/lib/bpfprofil" },
	{ "one team's pods, without their sidecars",
	  "sudo bpfprofil agent --otlp http://localhost:4318 --include 'namespace=shop-*' "
	  "--exclude container=envoy" },
	{ "for Prometheus and Parca, which ask for themselves",
	  "sudo bpfprofil agent --listen 127.0.0.1:9464 --listen-token-file /etc/bpfprofil/token" },
	{ 0 },
};

const struct command command_agent = {
	.name = "agent",
	.is_service = true,
	.summary = "profile this host for good, into the backends of a fleet",
	.operands = "",
	.description =
		"Counts where all processes of this host spend their time, until SIGTERM or ^C, and "
		"gives a profile every minute to each sink. A backend that is away costs no tick: "
		"profiles wait, and at a limit the oldest are added up.",
	.groups = agent_groups,
	.examples = agent_examples,
	.run = run,
};
