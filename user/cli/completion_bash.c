// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "cli/completion.h"

/* As the functions call them. */
static const char *const kinds[VALUE_KINDS] = {
	[VALUE_ANY] = "any",	   [VALUE_FILE] = "file",	    [VALUE_DIR] = "dir",
	[VALUE_PID] = "pid",	   [VALUE_PIDS] = "pids",	    [VALUE_NAME] = "name",
	[VALUE_CGROUP] = "cgroup", [VALUE_CONTAINER] = "container", [VALUE_UNIT] = "unit",
	[VALUE_USER] = "user",	   [VALUE_GROUP] = "group",	    [VALUE_COMMAND] = "command",
};

static void command_names(FILE *out)
{
	size_t i;

	for (i = 0; commands[i]; i++)
		fprintf(out, "%s ", commands[i]->name);
}

/* An '=' behind those that take a value. */
static void options_of(FILE *out, const struct command *command)
{
	const struct opt_group *group;
	const struct opt *opt;
	size_t i;

	fprintf(out, "\t%s)\n\t\toptions='", command->name);
	for (i = 0; (opt = opts_at(command, i, &group)); i++) {
		if (opt->letter)
			fprintf(out, "-%c%s ", opt->letter, opt->arg ? "=" : "");
		fprintf(out, "--%s%s ", opt->name, opt->arg ? "=" : "");
	}
	fprintf(out, "' command_follows='%s'\n\t\t;;\n",
		command->operands_end_options ? "yes" : "");
}

static void write_options(FILE *out)
{
	size_t i;

	fputs("# Sets options of a command; or to what may stand in its place, beginning with a '-' or not.\n"
	      "_bpfprofil_options()\n{\n\toptions='' command_follows=''\n\tcase $1 in\n"
	      "\t'') options='",
	      out);
	command_names(out);
	fputs("help' ;;\n\t-) options='-h --help --version' ;;\n", out);
	for (i = 0; commands[i]; i++)
		options_of(out, commands[i]);
	fputs("\tesac\n}\n\n", out);
}

static void words_of(FILE *out, const char *const *words)
{
	fputs(" kind='words", out);
	for (; *words; words++)
		fprintf(out, " %s", *words);
	fputs("' ;;\n", out);
}

static void kind_of_value(FILE *out, const char *command, const struct opt *opt)
{
	size_t i;

	if (opt->value == VALUE_ANY && !opt_word(opt, 0))
		return;
	fprintf(out, "\t%s--%s", command, opt->name);
	if (opt->letter)
		fprintf(out, " | %s-%c", command, opt->letter);
	fputc(')', out);
	if (!opt_word(opt, 0)) {
		fprintf(out, " kind='%s' ;;\n", kinds[opt->value]);
		return;
	}
	fputs(" kind='words", out);
	for (i = 0; opt_word(opt, i); i++)
		fprintf(out, " %s", opt_word(opt, i));
	fputs("' ;;\n", out);
}

static void kinds_of(FILE *out, const struct command *command)
{
	const struct opt_group *group;
	const struct opt *opt;
	size_t i;

	for (i = 0; (opt = opts_at(command, i, &group)); i++)
		if (opt->arg)
			kind_of_value(out, command->name, opt);
	if (!command->operand_words && command->operand == VALUE_ANY)
		return;
	fprintf(out, "\t%s)", command->name);
	if (command->operand_words)
		words_of(out, command->operand_words);
	else
		fprintf(out, " kind='%s' ;;\n", kinds[command->operand]);
}

static void write_kinds(FILE *out)
{
	size_t i;

	fputs("# Sets the kind of the value of an option of a command, or of its operands.\n"
	      "_bpfprofil_kind()\n{\n\tkind=any\n\tcase $1$2 in\n\thelp) kind='words ",
	      out);
	command_names(out);
	fputs("' ;;\n", out);
	for (i = 0; commands[i]; i++)
		kinds_of(out, commands[i]);
	fputs("\tesac\n}\n\n", out);
}

void completion_bash(FILE *out)
{
	fputs("# bash completion for bpfprofil: `bpfprofil completion bash`\n"
	      "# shellcheck shell=bash disable=SC2034,SC2207\n\n",
	      out);
	write_options(out);
	write_kinds(out);
	fputs(completion_bash_functions, out);
}
