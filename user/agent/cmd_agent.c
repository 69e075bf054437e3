// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <stdlib.h>

#include "agent/agent_options.h"
#include "agent/last_good.h"
#include "host/sampling.h"

/* A command line, to be parsed again at each reload. */
struct typed {
	int argc;
	char **argv;
	const char *instead; /* read this file of options instead of the one named; NULL: do not */
};

/* Parse the file before the command line, which overrides it. */
static int read_config(const struct typed *typed, struct agent_arguments *arguments,
		       struct error *err)
{
	const char *config = arguments->config;

	agent_arguments_free(arguments);
	agent_arguments_init(arguments);
	arguments->agent.config = config;
	arguments->config = typed->instead ?: config;
	if (stat(config, &arguments->agent.config_read))
		arguments->agent.config_read = (struct stat){ 0 };
	return agent_config_read(&command_agent, arguments, err);
}

/*
 * Reads the file, then the command line, which overrides it, then the environment. On false, exit
 * with *ret_status: the error was printed, or, if it is in the file or the environment, is in *err.
 */
static bool read_all(const struct typed *typed, struct agent_arguments *arguments, int *ret_status,
		     struct error *err)
{
	int first, code = 0, again = 0;

	agent_arguments_init(arguments);
	if (!command_parse(&command_agent, typed->argc, typed->argv, arguments, &first, ret_status))
		return false;
	*ret_status = EXIT_USAGE;
	if (first < typed->argc)
		return refuse("bpfprofil agent --help", "agent: '%s': takes no argument",
			      typed->argv[first]);
	if (arguments->config) {
		code = read_config(typed, arguments, err);
		/* Parse it after an error too: it may name the folder of the last good file. */
		again = !command_parse(&command_agent, typed->argc, typed->argv, arguments, &first,
				       ret_status);
	}
	if (again)
		return false;
	arguments->agent.last_good = agent_last_good(arguments);
	if (!code)
		code = agent_environment_read(arguments, err);
	if (!code)
		code = agent_arguments_settle(arguments, err);
	if (code)
		print_error(err);
	*ret_status = code == -EINVAL ? EXIT_USAGE : EXIT_FAILURE;
	return !code;
}

static void free_arguments(struct agent_arguments *arguments)
{
	if (arguments)
		agent_arguments_free(arguments);
	free(arguments);
}

/*
 * Record that the file was read, even if it does not work. Otherwise it would be read again and
 * again.
 */
static void keep(struct agent *agent, struct agent_arguments *former,
		 const struct agent_arguments *read, const struct error *why)
{
	if (read)
		former->agent.config_read = read->agent.config_read;
	agent->config_error = *why;
	print_message(NULL, "agent: the options stay as they were");
}

/* Reads all options again. Returns the former options; NULL: there was an error, and they stay. */
static struct agent_arguments *reload(const struct typed *typed, struct agent *agent,
				      struct agent_arguments **arguments)
{
	struct agent_arguments *read = calloc(1, sizeof(*read)), *former = *arguments;
	struct error err = { .text = "out of memory" };
	int status;

	if (!read || !read_all(typed, read, &status, &err)) {
		keep(agent, former, read, &err);
		free_arguments(read);
		return NULL;
	}
	*arguments = read;
	agent->config_error.text[0] = '\0';
	return former;
}

/*
 * If the file does not work, read the last one that did. NULL: there is none, or it does not work
 * either.
 */
static struct agent_arguments *read_last_good(const struct typed *typed,
					      const struct agent_arguments *failed)
{
	const struct typed instead = { typed->argc, typed->argv, failed->agent.last_good };
	struct agent_arguments *read;
	struct error err = { 0 };
	int status;

	if (!instead.instead || !last_good_is_ours(instead.instead))
		return NULL;
	read = calloc(1, sizeof(*read));
	if (!read || !read_all(&instead, read, &status, &err)) {
		free_arguments(read);
		return NULL;
	}
	read->agent.config_read = failed->agent.config_read;
	print_message(NULL, "agent: using the last options that worked, of %.256s",
		      instead.instead);
	return read;
}

/* Runs until the end. If options that were read again do not work, the former ones come back. */
static enum agent_end run_on(const struct typed *typed, struct agent *agent,
			     struct agent_arguments **arguments)
{
	struct agent_arguments *former = NULL;
	struct error err = { 0 };
	enum agent_end end;

	do {
		end = agent_run(agent, &(*arguments)->agent, &err);
		if (end == AGENT_NOT_BEGUN && !former && !agent->config_error.text[0])
			former = read_last_good(typed, *arguments);
		if (end == AGENT_NOT_BEGUN && former) {
			keep(agent, former, *arguments, &err);
			free_arguments(*arguments);
			*arguments = former;
			former = NULL;
			end = agent_run(agent, &(*arguments)->agent, &err);
		}
		free_arguments(former);
		former = end == AGENT_RELOAD ? reload(typed, agent, arguments) : NULL;
	} while (end == AGENT_RELOAD);
	return end;
}

/*
 * Reads the options at the start. NULL: exit with *ret_status. *why: "", or why the file is not in
 * force.
 */
static struct agent_arguments *read_first(const struct typed *typed, int *ret_status,
					  struct error *why)
{
	struct agent_arguments *arguments = calloc(1, sizeof(*arguments)), *good = NULL;

	*ret_status = EXIT_FAILURE;
	if (!arguments) {
		print_message(NULL, "agent: out of memory");
		return NULL;
	}
	if (read_all(typed, arguments, ret_status, why))
		return arguments;
	if (*ret_status == EXIT_USAGE)
		good = read_last_good(typed, arguments);
	free_arguments(arguments);
	return good;
}

static int run(int argc, char **argv)
{
	const struct typed typed = { argc, argv, NULL };
	struct error err = { 0 }, why = { 0 };
	enum agent_end end = AGENT_FAILED;
	struct agent_arguments *arguments;
	struct agent agent;
	int status;

	arguments = read_first(&typed, &status, &why);
	if (!arguments)
		return status;
	if (agent_open(&agent, &arguments->agent, &err)) {
		print_error(&err);
	} else {
		agent.config_error = why;
		end = run_on(&typed, &agent, &arguments);
	}
	agent_close(&agent);
	free_arguments(arguments);
	return end == AGENT_STOPPED ? EXIT_SUCCESS : EXIT_FAILURE;
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
	{ "to an OpenTelemetry Collector, every minute, with a service for each cgroup",
	  "sudo bpfprofil agent --otlp http://localhost:4318" },
	{ "to Pyroscope, and as files", "sudo bpfprofil agent --pyroscope http://localhost:4040 "
					"--dir /var/lib/bpfprofil" },
	{ "one team's pods, without their sidecars",
	  "sudo bpfprofil agent --otlp http://localhost:4318 --include 'namespace=shop-*' "
	  "--exclude container=envoy" },
	{ "for Prometheus and Parca, which scrape the agent",
	  "sudo bpfprofil agent --listen 127.0.0.1:9464 --listen-token-file /etc/bpfprofil/token" },
	{ 0 },
};

const struct command command_agent = {
	.name = "agent",
	.is_service = true,
	.summary = "profile this host continuously and send profiles to a backend",
	.description =
		"Samples all processes of this host until SIGTERM or ^C, and sends a profile to each "
		"sink every minute. If a backend is down, the agent keeps the profiles. When its queue "
		"is full, it merges the oldest ones.",
	.groups = agent_groups,
	.examples = agent_examples,
	.run = run,
};
