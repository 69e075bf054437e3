// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "cli/completion.h"

/* What ends a part of what _arguments and _describe are given. */
#define SPECIAL "\\:[]"

static const char *const actions[VALUE_KINDS] = {
	[VALUE_ANY] = " ",
	[VALUE_FILE] = "_files",
	[VALUE_DIR] = "_files -/",
	[VALUE_PID] = "_pids",
	[VALUE_PIDS] = "_sequence _pids",
	[VALUE_NAME] = "_bpfprofil_values name",
	[VALUE_CGROUP] = "_bpfprofil_values cgroup",
	[VALUE_CONTAINER] = "_bpfprofil_values container",
	[VALUE_UNIT] = "_bpfprofil_values unit",
	[VALUE_USER] = "_users",
	[VALUE_GROUP] = "_groups",
};

static void write_commands(FILE *out)
{
	size_t i;

	fputs("_bpfprofil_commands() {\n\tlocal -a commands\n\n\tcommands=(\n", out);
	for (i = 0; commands[i]; i++) {
		fprintf(out, "\t\t'%s:", commands[i]->name);
		completion_quoted(out, commands[i]->summary, SPECIAL);
		fputs("'\n", out);
	}
	fputs("\t)\n\t[[ $words[1] == help ]] ||\n"
	      "\t\tcommands+=('help:the same as --help, or as COMMAND --help')\n"
	      "\t_describe -t commands command commands\n}\n\n",
	      out);
}

static void write_value(FILE *out, const struct opt *opt)
{
	size_t i;

	fputc(':', out);
	completion_quoted(out, opt->arg, SPECIAL);
	fputc(':', out);
	if (!opt_word(opt, 0)) {
		fputs(actions[opt->value], out);
		return;
	}
	for (i = 0; opt_word(opt, i); i++)
		fprintf(out, "%c%s", i ? ' ' : '(', opt_word(opt, i));
	fputc(')', out);
}

/* All may be given again: the last one counts, or each does. */
static void write_option(FILE *out, const struct opt *opt)
{
	const char *glued = opt->arg ? "+" : "", *joined = opt->arg ? "=" : "";

	if (opt->letter)
		fprintf(out, " \\\n\t\t\t'*'{-%c%s,--%s%s}'[", opt->letter, glued, opt->name,
			joined);
	else
		fprintf(out, " \\\n\t\t\t'*--%s%s[", opt->name, joined);
	completion_quoted(out, opt->help, SPECIAL);
	fputc(']', out);
	if (opt->arg)
		write_value(out, opt);
	fputc('\'', out);
}

static void write_operands(FILE *out, const struct command *command)
{
	const char *const *word = command->operand_words;

	if (command->operand == VALUE_COMMAND) {
		fputs(" \\\n\t\t\t'(-)1:command:_command_names -e' '*::argument:_bpfprofil_command'",
		      out);
	} else if (word) {
		fputs(" \\\n\t\t\t'1:word:(", out);
		for (; *word; word++)
			fprintf(out, "%s ", *word);
		fputs(")'", out);
	} else if (command->operand != VALUE_ANY) {
		fprintf(out, " \\\n\t\t\t'*:operand:%s'", actions[command->operand]);
	}
}

static void write_arguments(FILE *out, const struct command *command)
{
	const struct opt_group *group;
	const struct opt *opt;
	size_t i;

	fprintf(out, "\t%s)\n\t\t_arguments -s -S%s", command->name,
		command->operands_end_options ? " -A '-*'" : "");
	for (i = 0; (opt = opts_at(command, i, &group)); i++)
		write_option(out, opt);
	write_operands(out, command);
	fputs("\n\t\t;;\n", out);
}

void completion_zsh(FILE *out)
{
	size_t i;

	/* The first line tells zsh when to load it. */
	fputs("#compdef bpfprofil\n# zsh completion for bpfprofil: `bpfprofil completion zsh`\n\n",
	      out);
	write_commands(out);
	fputs("_bpfprofil_arguments() {\n\tcase $1 in\n"
	      "\thelp)\n\t\t_arguments '1:command:_bpfprofil_commands'\n\t\t;;\n",
	      out);
	for (i = 0; commands[i]; i++)
		write_arguments(out, commands[i]);
	fputs("\tesac\n}\n\n", out);
	fputs(completion_zsh_functions, out);
}
