// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "cli/completion.h"

static const char *const proposals[VALUE_KINDS] = {
	[VALUE_DIR] = "(__fish_complete_directories)",
	[VALUE_PID] = "(__fish_complete_pids)",
	[VALUE_PIDS] = "(__fish_complete_list , __fish_complete_pids)",
	[VALUE_NAME] = "(__bpfprofil_values name)",
	[VALUE_CGROUP] = "(__bpfprofil_values cgroup)",
	[VALUE_CONTAINER] = "(__bpfprofil_values container)",
	[VALUE_UNIT] = "(__bpfprofil_values unit)",
	[VALUE_USER] = "(__fish_complete_users)",
	[VALUE_GROUP] = "(__fish_complete_groups)",
};

static void quote(FILE *out, const char *text)
{
	completion_escaped(out, text, "\\'");
}

/* As argparse wants them, for commands whose operands end them. */
static void write_parsed(FILE *out, const struct command *command)
{
	const struct opt_group *group;
	const struct opt *opt;
	size_t i;

	fprintf(out, "set -g __bpfprofil_%s", command->name);
	for (i = 0; (opt = opts_at(command, i, &group)); i++) {
		fputc(' ', out);
		if (opt->letter)
			fprintf(out, "%c/", opt->letter);
		fprintf(out, "%s%s", opt->name, opt->arg ? "=+" : "");
	}
	fputc('\n', out);
}

static void begin(FILE *out, const struct command *command)
{
	fprintf(out, "complete -c bpfprofil -n '__bpfprofil_in %s", command->name);
	if (command->operands_end_options)
		fprintf(out, " $__bpfprofil_%s", command->name);
	fputc('\'', out);
}

static void write_option(FILE *out, const struct command *command, const struct opt *opt)
{
	size_t i;

	begin(out, command);
	if (opt->letter)
		fprintf(out, " -s %c", opt->letter);
	fprintf(out, " -l %s", opt->name);
	if (opt->arg)
		fputs(opt->value == VALUE_FILE ? " -r -F" : " -x", out);
	if (opt_word(opt, 0)) {
		fputs(" -a '", out);
		for (i = 0; opt_word(opt, i); i++)
			fprintf(out, "%s ", opt_word(opt, i));
		fputc('\'', out);
	} else if (proposals[opt->value]) {
		fprintf(out, " -a '%s'", proposals[opt->value]);
	}
	fputs(" -d '", out);
	quote(out, opt->help);
	fputs("'\n", out);
}

static void write_operands(FILE *out, const struct command *command)
{
	const char *const *word = command->operand_words;

	if (command->operand == VALUE_COMMAND) {
		fprintf(out,
			"complete -c bpfprofil -n '__bpfprofil_in %s' -x -a '(__bpfprofil_command "
			"$__bpfprofil_%s)'\n",
			command->name, command->name);
	} else if (word) {
		begin(out, command);
		fputs(" -a '", out);
		for (; *word; word++)
			fprintf(out, "%s ", *word);
		fputs("'\n", out);
	} else if (command->operand == VALUE_FILE) {
		begin(out, command);
		fputs(" -F\n", out);
	}
}

static void write_command(FILE *out, const struct command *command)
{
	const struct opt_group *group;
	const struct opt *opt;
	size_t i;

	fprintf(out, "\ncomplete -c bpfprofil -n __fish_use_subcommand -a %s -d '", command->name);
	quote(out, command->summary);
	fprintf(out, "'\ncomplete -c bpfprofil -n '__bpfprofil_in help' -a %s -d '", command->name);
	quote(out, command->summary);
	fputs("'\n", out);
	if (command->operands_end_options)
		write_parsed(out, command);
	for (i = 0; (opt = opts_at(command, i, &group)); i++)
		write_option(out, command, opt);
	write_operands(out, command);
}

void completion_fish(FILE *out)
{
	size_t i;

	fputs("# fish completion for bpfprofil: `bpfprofil completion fish`\n", out);
	fputs(completion_fish_functions, out);
	for (i = 0; commands[i]; i++)
		write_command(out, commands[i]);
}
