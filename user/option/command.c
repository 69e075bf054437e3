// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "option/command.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/output.h"

#define HELP_WIDTH 80

int (*command_print_version)(void);

int command_print_help(const struct command *command)
{
	unsigned int width = terminal_width(stdout);

	print_as(command->name);
	stdout_begin();
	opts_help(command, stdout, width && width < 100 ? width : HELP_WIDTH);
	return stdout_end("standard output");
}

#define PREFIX "BPFPROFIL_"
#define VARIABLE_MAX 64
#define WORDS_MAX 64

static void variable_of(const struct command *command, char ret[VARIABLE_MAX])
{
	size_t i;

	snprintf(ret, VARIABLE_MAX, PREFIX "%s", command->name);
	for (i = strlen(PREFIX); ret[i]; i++)
		ret[i] = (char)toupper((unsigned char)ret[i]);
}

/*
 * Splits the value at blanks. Options keep pointers into the copy. -E2BIG: the value is too long.
 */
static int split_words(const char *value, char *words[WORDS_MAX + 1], int *nr)
{
	static char text[4096];
	char *word;

	if (strlen(value) >= sizeof(text))
		return -E2BIG;
	snprintf(text, sizeof(text), "%s", value);
	for (word = strtok(text, " \t\n"); word; word = strtok(NULL, " \t\n")) {
		if (*nr == WORDS_MAX)
			return -E2BIG;
		words[(*nr)++] = word;
	}
	return 0;
}

/* Says that the variable is wrong, and not the command line. */
static int blame(const struct command *command, const char *variable, int code, struct error *err)
{
	const struct error why = *err;
	size_t length = strlen(command->name);
	bool named = !strncmp(why.text, command->name, length) && why.text[length] == ':';

	error_set(err, code, "%s: %.440s", variable, why.text + (named ? length + 2 : 0));
	if (why.hint[0])
		error_hint(err, "%s", why.hint);
	return code;
}

/* An operand in the variable is an error, because operands are for one command line only. */
static int parse_environment(const struct command *command, void *options,
			     struct opts_parsed *result, struct error *err)
{
	char variable[VARIABLE_MAX], *words[WORDS_MAX + 1] = { (char *)command->name };
	const char *value;
	int nr = 1, ret;

	variable_of(command, variable);
	value = command->is_service ? NULL : getenv(variable);
	if (!value)
		return 0;
	ret = split_words(value, words, &nr);
	if (ret)
		return error_errno(err, ret, "%s", variable);
	ret = opts_parse(command, nr, words, options, result, err);
	if (ret)
		return blame(command, variable, ret, err);
	if (result->help || result->version)
		return error_set(err, -EINVAL, "%s: --help and --version cannot be defaults",
				 variable);
	if (result->first < nr)
		return error_set(err, -EINVAL, "%s: '%.128s': must be an option", variable,
				 words[result->first]);
	return 0;
}

bool command_parse(const struct command *command, int argc, char **argv, void *options,
		   int *ret_first, int *ret_status)
{
	struct opts_parsed parsed = { 0 };
	struct error err = { 0 };
	int ret;

	print_as(command->name);
	ret = parse_environment(command, options, &parsed, &err);
	if (!ret)
		ret = opts_parse(command, argc, argv, options, &parsed, &err);
	if (ret) {
		print_error(&err);
		*ret_status = ret == -ENOMEM ? EXIT_FAILURE : EXIT_USAGE;
		return false;
	}
	if (parsed.help || parsed.version) {
		*ret_status = parsed.help ? command_print_help(command) : command_print_version();
		return false;
	}
	color_choose(parsed.color);
	*ret_first = parsed.first;
	return true;
}
