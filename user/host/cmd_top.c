// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "option/command.h"
#include "host/sampling.h"
#include "host/target_options.h"
#include "host/engine/session.h"
#include "base/output.h"
#include "host/record/sample_loop.h"
#include "host/record/spending.h"
#include "host/record/top_loop.h"

#define DELAY_MIN UINT64_C(100000000)
#define DELAY_DEFAULT UINT64_C(2000000000)
#define TABLE_ROWS 20
#define SPLIT_UNTOLD UINT_MAX /* not typed: chosen for the view */

struct top_arguments {
	struct target_options targets;
	struct sampling_options sampling;
	unsigned int by; /* enum top_by, or TOP_THREADS */
	uint64_t delay_ns;
	uint64_t iterations;
	uint64_t rows;
	const char *output; /* NULL: written only when a key is pressed */
};

#define FIELD(member) offsetof(struct top_arguments, member)

static const struct opt view_opts[] = {
	OPT_TIME("delay", FIELD(delay_ns), "SECONDS", DELAY_MIN, "1, 0.5s or 1m",
		 "the time between updates", .letter = 'd', .fallback = "2"),
	OPT_NUMBER("iterations", FIELD(iterations), "N", 1, UINT32_MAX, "end after N intervals",
		   .letter = 'n'),
	OPT_WORD("by", FIELD(by), "functions|objects|processes|threads|cgroups|comm", top_by_words,
		 "start with this view; comm sums processes of one name; cgroups implies --split "
		 "cgroup, and threads --split thread",
		 .fallback = "functions"),
	OPT_NUMBER("rows", FIELD(rows), "N", 0, UINT32_MAX,
		   "rows of each table if the output is not a terminal; 0 shows all",
		   .fallback = "20"),
	OPT_FILE("output", FIELD(output),
		 "write a profile of all intervals here, at the end and with the key w; %p %t %h are "
		 "the pid, the time and the host; .gz compresses",
		 .letter = 'o', .fallback = "only with w, bpfprofil-top-%t.json"),
	{ 0 }
};

/* "pid 7, nginx.service: 997 Hz, every 2 s". NULL: out of memory. */
static char *make_title(const struct targets *targets, const struct top_arguments *arguments)
{
	char *title = NULL;
	size_t size, i;
	FILE *out = open_memstream(&title, &size);

	if (!out)
		return NULL;
	for (i = 0; i < targets->nr; i++)
		fprintf(out, "%s%s", i ? ", " : "", targets->list[i].name);
	fprintf(out, ": %.6g Hz, every %.6g s", arguments->sampling.requested_hz,
		(double)arguments->delay_ns / 1e9);
	return fclose(out) ? NULL : title;
}

static bool is_over(void *targets)
{
	return !targets_left(targets);
}

static int open_session(const struct top_arguments *arguments, struct targets *targets,
			struct top_loop *loop, struct error *err)
{
	struct session_options options = sampling_session_options(&arguments->sampling);
	int ret = target_options_choose_hierarchy(targets, options.split, err);

	if (ret)
		return ret;
	options.targets = targets->list;
	options.nr_targets = targets->nr;
	options.cgroup_controller = targets->controller;
	options.measure = false; /* the view keeps the rate with which it began */
	ret = sampling_check_cost(&arguments->sampling, err);
	if (!ret)
		ret = session_open(&options, &loop->session, err);
	if (!ret)
		ret = session_start(loop->session, err);
	return ret ? sample_explain(ret, err) : targets_watch(targets, &loop->ended_fd, err);
}

static int watch(const struct top_arguments *arguments, struct targets *targets, struct error *err)
{
	struct top_loop loop = { 0 };
	char *title = make_title(targets, arguments);
	int ret = top_loop_init(&loop, &arguments->sampling, arguments->by, arguments->output, err);

	if (!ret && !title)
		ret = error_no_memory(err, "top");
	loop.screen.title = title;
	loop.delay_ns = arguments->delay_ns;
	loop.iterations = arguments->iterations;
	loop.plain.limit = arguments->rows;
	loop.is_over = is_over;
	loop.targets = targets;
	if (!ret)
		ret = open_session(arguments, targets, &loop, err);
	if (!ret)
		ret = top_loop_run(&loop, err);
	top_loop_free(&loop);
	session_close(loop.session);
	free(title);
	return ret;
}

static int check(struct top_arguments *arguments, struct error *err)
{
	unsigned int by = arguments->by, *split = &arguments->sampling.split;

	if (*split == SPLIT_UNTOLD)
		*split = by == TOP_CGROUPS ? SPLIT_CGROUP :
			 by == TOP_THREADS ? SPLIT_THREAD :
					     SPLIT_PROCESS;
	if ((by == TOP_CGROUPS && *split != SPLIT_CGROUP) ||
	    (by == TOP_THREADS && *split != SPLIT_THREAD) ||
	    ((by == TOP_PROCESSES || by == TOP_COMMS) && *split != SPLIT_PROCESS &&
	     *split != SPLIT_THREAD))
		return error_with_hint(err, -EINVAL, "leaving --split out",
				       "top: --by %s: with this --split they are not told apart",
				       top_by_words[by]);
	if (by == TOP_THREADS)
		arguments->by = TOP_PROCESSES;
	if (arguments->output && !strcmp(arguments->output, "-"))
		return error_with_hint(err, -EINVAL, "-o FILE",
				       "top: -o -: the tables go to standard output");
	return sampling_options_check(&arguments->sampling, "top", err);
}

static int top(struct top_arguments *arguments, char **operands)
{
	struct targets targets = { 0 };
	struct error err = { 0 };
	int ret, status;

	ret = *operands ? target_options_refuse("top", operands, &err) : check(arguments, &err);
	if (!ret)
		ret = target_options_resolve(&arguments->targets, "top", &targets, &err);
	if (ret) {
		status = ret == -EINVAL ? EXIT_USAGE : EXIT_FAILURE;
	} else {
		target_options_say(&targets, stderr);
		ret = spending_choose(&arguments->sampling, "top", &err);
		ret = ret ? sample_explain(ret, &err) : watch(arguments, &targets, &err);
		status = ret ? EXIT_FAILURE : EXIT_SUCCESS;
	}
	/* With EPIPE the reader of the tables has left and needs no message. */
	if (ret && ret != -EPIPE)
		print_error(&err);
	targets_free(&targets);
	return status;
}

static int cmd_top(int argc, char **argv)
{
	struct top_arguments arguments = { .delay_ns = DELAY_DEFAULT, .rows = TABLE_ROWS };
	int first, status;

	target_options_init(&arguments.targets);
	sampling_options_init(&arguments.sampling);
	arguments.sampling.split = SPLIT_UNTOLD;
	if (command_parse(&command_top, argc, argv, &arguments, &first, &status))
		status = top(&arguments, argv + first);
	target_options_free(&arguments.targets);
	sampling_options_free(&arguments.sampling);
	return status;
}

static const struct opt_group top_groups[] = {
	TARGET_GROUP(FIELD(targets)),
	{ .title = "View", .opts = view_opts },
	{ .title = "Sampling", .opts = sampling_rate_opts, .base = FIELD(sampling) },
	{ .title = "Callers", .opts = sampling_callers_opts, .base = FIELD(sampling) },
	{ .title = "Waits", .opts = sampling_waits_opts, .base = FIELD(sampling) },
	{ .title = "Histograms", .opts = sampling_histogram_opts, .base = FIELD(sampling) },
	{ 0 },
};

static const struct command_example top_examples[] = {
	{ "What is this host doing?", "sudo bpfprofil top --all" },
	{ "Two processes, a look every half second", "sudo bpfprofil top --pid 4711,4712 -d 0.5" },
	{ "Which control group uses the CPUs?", "sudo bpfprofil top --all --by cgroups" },
	{ "Hot functions and their callers", "sudo bpfprofil top --pid 4711 --callers" },
	{ "Ten tables, one a minute, into a file",
	  "sudo bpfprofil top --unit nginx -d 60 -n 10 >nginx.txt" },
	{ "With a profile of all intervals, for report",
	  "sudo bpfprofil top --container web -o web.json" },
	{ 0 },
};

const struct command command_top = {
	.name = "top",
	.summary = "watch where running programs spend their CPU time",
	.operands = "--pid PID | --name PATTERN | --all | ...",
	.description =
		"Shows the hottest functions, objects, processes, threads or control groups of the "
		"last interval and of all so far, until q, ^C, or the end of the targets; h shows the "
		"keys. If stdin or stdout is not a terminal, a table follows each interval, and a "
		"table of all intervals comes last.",
	.groups = top_groups,
	.examples = top_examples,
	.run = cmd_top,
};
