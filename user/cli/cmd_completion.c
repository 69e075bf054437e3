// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/output.h"
#include "base/text.h"
#include "host/targets/targets.h"
#include "option/command.h"
#include "report/profile_file.h"

/*
 * Answers a shell's TAB: `bpfprofil __complete WORD...`, with the words after the program's name up
 * to the cursor. The first line of the answer is a kind of values and, after a blank, the part of
 * the last word that precedes the value. The values follow, one per line, each with a description
 * after a tab. The shell itself completes files, users and the like.
 */

/* The words that the scripts know. For a kind without proposals a shell may show the word. */
static const char *const kinds[VALUE_KINDS] = {
	[VALUE_ANY] = "any",	   [VALUE_FILE] = "file",
	[VALUE_DIR] = "dir",	   [VALUE_PID] = "pid",
	[VALUE_PIDS] = "pid",	   [VALUE_NAME] = "name",
	[VALUE_CGROUP] = "cgroup", [VALUE_CONTAINER] = "container",
	[VALUE_UNIT] = "unit",	   [VALUE_USER] = "user",
	[VALUE_GROUP] = "group",   [VALUE_COMMAND] = "command",
};

/* The kinds whose values `bpfprofil completion --values` writes. */
static const char *const value_words[] = { [PROPOSE_CGROUPS] = "cgroup",
					   [PROPOSE_CONTAINERS] = "container",
					   [PROPOSE_UNITS] = "unit",
					   [PROPOSE_NAMES] = "name",
					   [PROPOSE_PIDS] = NULL };

/*
 * Finds the option in a word, if the option has a value. *ret_value is the value's part of the
 * word, or NULL if the next word is the value.
 */
static const struct opt *with_value(const struct command *command, const char *word,
				    const char **ret_value)
{
	const struct opt_group *group;
	const struct opt *opt;
	size_t i, length = strcspn(word, "=");

	*ret_value = NULL;
	if (!strncmp(word, "--", 2)) {
		for (i = 0; (opt = opts_at(command, i, &group)); i++) {
			if (!opt->arg || strlen(opt->name) != length - 2 ||
			    strncmp(opt->name, word + 2, length - 2))
				continue;
			*ret_value = word[length] ? word + length + 1 : NULL;
			return opt;
		}
		return NULL;
	}
	while (*word && *++word) {
		opt = opts_by_letter(command, *word, &group);
		if (!opt || opt->arg) {
			*ret_value = word[1] ? word + 1 : NULL;
			return opt;
		}
	}
	return NULL;
}

/*
 * Prints a name, and its description if one follows a tab. It leaves out names with control
 * characters or invalid UTF-8: shells write them to the terminal unchanged, and each line is one
 * name.
 */
static void print_name(char *name, enum proposal kind)
{
	char *description = kind == PROPOSE_PIDS ? strchr(name, '\t') : NULL;

	if (description) {
		printf("%.*s\t", (int)(description - name), name);
		text_write(stdout, description + 1, 0);
		putchar('\n');
	} else if (text_is_plain(name)) {
		puts(name);
	}
}

static int print_names(enum proposal kind, struct error *err)
{
	struct names names;
	int ret = proposals_find(kind, &names, err);
	size_t i;

	for (i = 0; !ret && i < names.nr; i++)
		print_name(names.list[i], kind);
	names_free(&names);
	return ret;
}

/* Prints the values of an option or of operands: fixed words, or the values of a kind. */
static void print_proposals(const struct opt *opt, const char *word, const char *value)
{
	const char *comma = opt->value == VALUE_PIDS ? strrchr(value, ',') : NULL;
	int lead = (int)((comma ? comma + 1 : value) - word);
	size_t i;

	if (opt_word(opt, 0)) {
		printf("words %.*s\n", lead, word);
		for (i = 0; opt_word(opt, i); i++)
			puts(opt_word(opt, i));
		return;
	}
	if (opt->value == VALUE_ANY)
		printf("any %s\n", opt->arg ? opt->arg : "");
	else
		printf("%s %.*s\n", kinds[opt->value], lead, word);
	if (opt->value == VALUE_PID || opt->value == VALUE_PIDS)
		print_names(PROPOSE_PIDS, NULL);
	for (i = 0; value_words[i]; i++)
		if (!strcmp(value_words[i], kinds[opt->value]))
			print_names((enum proposal)i, NULL);
}

/* More letters may follow the first nr characters of the word. */
static void print_options(const struct command *command, const char *word, int nr)
{
	const struct opt_group *group;
	const struct opt *opt;
	size_t i;

	puts("options ");
	for (i = 0; (opt = opts_at(command, i, &group)); i++) {
		printf("--%s\t%s\n", opt->name, opt->help);
		if (opt->letter)
			printf("%.*s%c\t%s\n", nr, word, opt->letter, opt->help);
	}
}

static void print_commands(bool help)
{
	size_t i;

	puts("commands ");
	for (i = 0; commands[i]; i++)
		printf("%s\t%s\n", commands[i]->name, commands[i]->summary);
	if (help)
		printf("help\t%s\n", "the same as --help, or as COMMAND --help");
}

/* Completes the words behind a command's name. last is the index of the word at the cursor. */
static void print_behind(const struct command *command, int last, char **words)
{
	struct opt operands = { .value = command->operand, .words = command->operand_words };
	const char *word = words[last], *value;
	const struct opt *opt;
	int i;

	for (i = 1; i < last && strcmp(words[i], "--") != 0; i++) {
		if (words[i][0] != '-' && command->operands_end_options)
			break;
		opt = words[i][0] == '-' ? with_value(command, words[i], &value) : NULL;
		if (opt && !value && ++i == last) {
			print_proposals(opt, word, word);
			return;
		}
	}
	if (i == last && word[0] == '-') {
		opt = with_value(command, word, &value);
		if (opt && value)
			print_proposals(opt, word, value);
		else if (word[1] == '-')
			print_options(command, word, 1);
		else
			print_options(command, word, (int)strlen(word) - !!opt);
		return;
	}
	if (i < last && !strcmp(words[i], "--"))
		i++;
	if (command->operand == VALUE_COMMAND)
		printf("command %d\n", i + 1);
	else
		print_proposals(&operands, word, word);
}

int command_complete(int nr, char **words)
{
	const struct command *command = nr > 1 ? command_find(words[0]) : NULL;

	stdout_begin();
	if (command)
		print_behind(command, nr - 1, words);
	else if (nr == 1 && words[0][0] == '-')
		puts("options \n-h\tlist the commands\n--help\tlist the commands\n"
		     "--version\tshow the version, the libbpf and the kernel");
	else if (nr < 2 || (nr == 2 && !strcmp(words[0], "help")))
		print_commands(nr < 2);
	return stdout_end("standard output");
}

struct completion_arguments {
	unsigned int values; /* enum proposal, or NO_VALUES */
};

enum { NO_VALUES = 0xffff };

static const struct opt completion_opts[] = {
	OPT_WORD("values", offsetof(struct completion_arguments, values),
		 "cgroup|container|unit|name", value_words,
		 "write the current values for the option of that name instead, one on each line"),
	{ 0 }
};

static const char *const shell_words[] = { "bash", "zsh", "fish", NULL };
extern const char completion_bash[], completion_zsh[], completion_fish[]; /* user/completion */
static const char *const scripts[] = { completion_bash, completion_zsh, completion_fish };

static int print_values(enum proposal kind)
{
	struct error err;

	stdout_begin();
	if (!print_names(kind, &err))
		return stdout_end("completion: standard output");
	print_error(&err);
	return EXIT_FAILURE;
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
	return usage_error("bpfprofil completion bash",
			   "completion: '%.128s': must be one of bash, zsh, fish", shell);
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
	return usage_error("bpfprofil completion bash", "completion: %s",
			   operands ? "one shell, or --values and none" : "no shell given");
}

static const struct opt_group completion_groups[] = {
	{ .title = "Values", .opts = completion_opts },
	{ 0 },
};

static const struct command_example completion_examples[] = {
	{ "enable it in the current bash", "source <(bpfprofil completion bash)" },
	{ "install it for fish",
	  "bpfprofil completion fish >~/.config/fish/completions/bpfprofil.fish" },
	{ 0 },
};

const struct command command_completion = {
	.name = "completion",
	.summary = "write a shell completion script",
	.operands = "bash|zsh|fish",
	.operand_words = shell_words,
	.description = "Prints a completion script for the shell. 'make install' and the packages "
		       "install it.",
	.groups = completion_groups,
	.examples = completion_examples,
	.run = run,
};
