// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The text of --help, from the tables that parsing uses. */
#include <string.h>

#include "option/command.h"
#include "option/opts.h"

#define HELP_COLUMN 28

/* Prints words from the given column on, and indents further lines. Returns the column. */
static unsigned int wrap(FILE *out, const char *text, unsigned int column, unsigned int indent,
			 unsigned int width)
{
	size_t length;

	for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
		length = strcspn(text, " ");
		if (column > indent && column + 1 + length > width) {
			fprintf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			fputc(' ', out);
			column++;
		}
		fwrite(text, 1, length, out);
		column += (unsigned int)length;
		text += length;
	}
	return column;
}

static void option_line(FILE *out, const struct opt *opt, unsigned int width)
{
	char text[160];
	int column;

	if (opt->letter)
		column = fprintf(out, "  -%c, --%s", opt->letter, opt->name);
	else
		column = fprintf(out, "      --%s", opt->name);
	if (opt->arg)
		column += fprintf(out, " %s", opt->arg);
	if (column > HELP_COLUMN - 2) {
		fputc('\n', out);
		column = 0;
	}
	fprintf(out, "%*s", HELP_COLUMN - column, "");
	column = (int)wrap(out, opt->help, HELP_COLUMN, HELP_COLUMN, width);
	if (opt->fallback) {
		snprintf(text, sizeof(text), "(default: %s)", opt->fallback);
		wrap(out, text, (unsigned int)column, HELP_COLUMN, width);
	}
	fputc('\n', out);
}

static void examples(const struct command *command, FILE *out)
{
	const struct command_example *example = command->examples;

	if (!example)
		return;
	fprintf(out, "\nExamples:\n");
	for (; example->line; example++)
		fprintf(out, "  # %s\n  %s\n", example->what, example->line);
}

void opts_help(const struct command *command, FILE *out, unsigned int width)
{
	const struct opt_group *group = NULL, *previous = NULL;
	const struct opt *opt;
	size_t i;

	if (width < 60)
		width = 60;
	fprintf(out, "Usage: bpfprofil %s [OPTIONS]%s%s\n\n", command->name,
		command->operands ? " " : "", command->operands ? command->operands : "");
	wrap(out, command->description, 0, 0, width);
	fputc('\n', out);
	for (i = 0; (opt = opts_at(command, i, &group)); i++) {
		if (group != previous)
			fprintf(out, "\n%s:\n", group->title);
		previous = group;
		option_line(out, opt, width);
	}
	if (command->more_help)
		command->more_help(out);
	examples(command, out);
	fprintf(out, "\nThe manual: man bpfprofil-%s\n", command->name);
}
