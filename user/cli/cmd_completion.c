// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "option/command.h"
#include "report/profile_file.h"
#include "base/output.h"
#include "host/targets/proposals.h"

struct completion_arguments {
	unsigned int values; /* enum proposal, or NO_VALUES */
};

enum { NO_VALUES = 0xffff };

static const char *const value_words[] = { [PROPOSE_CGROUPS] = "cgroup",
					   [PROPOSE_CONTAINERS] = "container",
					   [PROPOSE_UNITS] = "unit",
					   [PROPOSE_NAMES] = "name",
					   [PROPOSE_PIDS] = NULL };

static const struct opt completion_opts[] = {
	{ .name = "values",
	  .arg = "cgroup|container|unit|name",
	  .help = "instead of a script what the option of that name could be given now, a line each",
	  .words = value_words,
	  .field = offsetof(struct completion_arguments, values) },
	{ 0 }
};

static const char *const shell_words[] = { "bash", "zsh", "fish", NULL };
extern const char completion_bash[], completion_zsh[], completion_fish[]; /* user/completion */
static const char *const scripts[] = { completion_bash, completion_zsh, completion_fish };

static int print_values(enum proposal kind)
{
	struct error err = { 0 };
	struct names names;
	size_t i;

	if (proposals_find(kind, &names, &err)) {
		print_error(&err);
		return EXIT_FAILURE;
	}
	stdout_begin();
	for (i = 0; i < names.nr; i++)
		/* Each line is one name, so names with a newline are left out. */
		if (!strchr(names.list[i], '\n'))
			puts(names.list[i]);
	names_free(&names);
	return stdout_end("completion: standard output");
}

static int print_script(const char *shell)
{
	size_t i;

	for (i = 0; shell_words[i]; i++) {
		if (strcmp(shell_words[i], shell) != 0)
			continue;
		stdout_begin();
		fputs(scripts[i], stdout);
		return stdout_end("completion: standard output");
	}
	print_message("bpfprofil completion bash",
		      "completion: '%.128s': must be one of bash, zsh, fish", shell);
	return EXIT_USAGE;
}

static int run(int argc, char **argv)
{
	struct completion_arguments arguments = { .values = NO_VALUES };
	int first, status, operands;

	if (!command_parse(&command_completion, argc, argv, &arguments, &first, &status))
		return status;
	operands = argc - first;
	if (arguments.values != NO_VALUES && !operands)
		return print_values((enum proposal)arguments.values);
	if (arguments.values == NO_VALUES && operands == 1)
		return print_script(argv[first]);
	print_message("bpfprofil completion bash", "completion: %s",
		      operands ? "one shell, or --values and none" : "no shell given");
	return EXIT_USAGE;
}

static const struct opt_group completion_groups[] = {
	{ .title = "Values", .opts = completion_opts },
	{ 0 },
};

static const struct command_example completion_examples[] = {
	{ "in this shell, a bash", "source <(bpfprofil completion bash)" },
	{ "in every fish of mine",
	  "bpfprofil completion fish >~/.config/fish/completions/bpfprofil.fish" },
	{ 0 },
};

const struct command command_completion = {
	.name = "completion",
	.summary = "write a script that makes a shell complete",
	.operands = "bash|zsh|fish",
	.operand_words = shell_words,
	.description = "Writes the script by which a shell completes commands, options and their "
		       "values. An installation has it where the shell looks for it.",
	.groups = completion_groups,
	.examples = completion_examples,
	.run = run,
};
