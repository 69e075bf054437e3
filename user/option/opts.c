// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "option/opts.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "base/nearest.h"
#include "option/command.h"
#include "option/meant.h"

/*
 * The most options of a command, including common ones, and getopt's value for the first of them.
 */
#define OPTS_MAX 48
#define OPTS_BASE 256

static const char *const color_words[] = { "auto", "always", "never", NULL };

static const struct opt common_opts[] = {
	{ .name = "color",
	  .arg = "WHEN",
	  .help = "colours: auto (on a terminal, unless NO_COLOR is set), always or never",
	  .fallback = "auto",
	  .words = color_words,
	  .field = offsetof(struct opts_parsed, color) },
	{ .name = "help",
	  .letter = 'h',
	  .help = "show this help",
	  .field = offsetof(struct opts_parsed, help) },
	{ .name = "version",
	  .help = "show the version, the libbpf and the kernel",
	  .field = offsetof(struct opts_parsed, version) },
	{ 0 }
};

static const struct opt_group common_group = { .title = "Common", .opts = common_opts };

const struct opt *opts_at(const struct command *command, size_t i,
			  const struct opt_group **ret_group)
{
	const struct opt_group *group = command->groups;
	const struct opt *opt;

	for (; group && group->title; group++) {
		for (opt = group->opts; opt->name; opt++) {
			if (i-- == 0) {
				*ret_group = group;
				return opt;
			}
		}
	}
	if (i >= sizeof(common_opts) / sizeof(common_opts[0]) - 1)
		return NULL;
	*ret_group = &common_group;
	return &common_opts[i];
}

const char *opt_word(const struct opt *opt, size_t i)
{
	if (opt->words)
		return opt->words[i];
	return opt->word ? opt->word(i) : NULL;
}

/*
 * Fills getopt's two tables; a leading ':' makes it distinguish a missing value from a wrong
 * option.
 */
static size_t getopt_tables(const struct command *command, struct option *longs, char *shorts)
{
	const struct opt_group *group;
	const struct opt *opt;
	size_t nr;

	if (command->operands_end_options)
		*shorts++ = '+';
	*shorts++ = ':';
	for (nr = 0; nr < OPTS_MAX && (opt = opts_at(command, nr, &group)); nr++) {
		longs[nr] = (struct option){ .name = opt->name,
					     .has_arg = opt->arg ? required_argument : no_argument,
					     .val = OPTS_BASE + (int)nr };
		if (opt->letter) {
			*shorts++ = opt->letter;
			if (opt->arg)
				*shorts++ = ':';
		}
	}
	longs[nr] = (struct option){ 0 };
	*shorts = '\0';
	return nr;
}

/* What is meant by an option of another tool; NULL: nothing that the command has. */
static const char *meant_here(const struct command *command, const char *typed)
{
	const char *meant = meant_by_option(typed);
	const struct opt_group *group;
	const struct opt *opt;
	size_t i;

	/* What perf record -a COMMAND does, attach does until ^C, and without a command. */
	if (meant && !strcmp(meant, "--all") && !strcmp(command->name, "run"))
		return "bpfprofil attach --all";
	if (!meant || strncmp(meant, "--", 2) != 0)
		return meant;
	for (i = 0; (opt = opts_at(command, i, &group)); i++)
		if (strcspn(meant + 2, " ") == strlen(opt->name) &&
		    !strncmp(meant + 2, opt->name, strlen(opt->name)))
			return meant;
	return NULL;
}

static int unknown_letter(const struct command *command, int letter, struct error *err)
{
	const char typed[] = { (char)letter, '\0' }, *meant = meant_here(command, typed);

	error_set(err, -EINVAL, "%s: unknown option '-%c'", command->name, letter);
	if (meant)
		error_hint(err, "%s", meant);
	else
		error_hint(err, "bpfprofil %s --help", command->name);
	return -EINVAL;
}

static int unknown_long(const struct command *command, const char *typed, struct error *err)
{
	const char *words[OPTS_MAX + 1], *nearest;
	const struct opt_group *group;
	const struct opt *opt;
	char name[64];
	size_t nr;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(typed, "="), typed);
	for (nr = 0; nr < OPTS_MAX && (opt = opts_at(command, nr, &group)); nr++)
		words[nr] = opt->name;
	words[nr] = NULL;
	error_set(err, -EINVAL, "%s: unknown option '--%s'", command->name, name);
	nearest = nearest_word(name, words);
	if (meant_here(command, name))
		error_hint(err, "%s", meant_here(command, name));
	else if (nearest)
		error_hint(err, "--%s", nearest);
	else
		error_hint(err, "bpfprofil %s --help", command->name);
	return -EINVAL;
}

/* getopt refused the last word that it took. */
static int refused(const struct command *command, const char *word, int code, struct error *err)
{
	const struct opt_group *group;
	const struct opt *opt;
	bool is_long = !strncmp(word, "--", 2);

	if (is_long && optopt < OPTS_BASE)
		return unknown_long(command, word + 2, err);
	if (!is_long && code == '?')
		return unknown_letter(command, optopt, err);
	if (code == ':') {
		if (is_long)
			error_set(err, -EINVAL, "%s: %s needs a value", command->name, word);
		else
			error_set(err, -EINVAL, "%s: -%c needs a value", command->name, optopt);
	} else {
		opt = opts_at(command, (size_t)(optopt - OPTS_BASE), &group);
		error_set(err, -EINVAL, "%s: --%s takes no value", command->name, opt->name);
	}
	error_hint(err, "bpfprofil %s --help", command->name);
	return -EINVAL;
}

const struct opt *opts_by_letter(const struct command *command, int letter,
				 const struct opt_group **ret_group)
{
	const struct opt *opt;
	size_t i;

	for (i = 0; (opt = opts_at(command, i, ret_group)); i++) {
		if (opt->letter == letter)
			return opt;
	}
	return NULL;
}

/* The word that getopt last took as an option, whether its value was separate or after a '='. */
static const char *last_word(char **argv)
{
	return argv[optarg && optarg == argv[optind - 1] ? optind - 2 : optind - 1];
}

/* getopt accepts "--freq" for "--frequency"; we do not. */
static bool abbreviated(const struct opt *opt, const char *word)
{
	size_t length = strlen(opt->name);

	return strncmp(word + 2, opt->name, length) ||
	       (word[2 + length] && word[2 + length] != '=');
}

static int store(const struct command *command, int code, char **argv, void *options,
		 struct opts_parsed *result, struct error *err)
{
	const struct opt_group *group = NULL;
	const struct opt *opt;
	struct error why = { 0 };
	opt_setter set;
	char *base;
	int ret;

	if (code >= OPTS_BASE) {
		opt = opts_at(command, (size_t)(code - OPTS_BASE), &group);
		if (abbreviated(opt, last_word(argv)))
			return unknown_long(command, last_word(argv) + 2, err);
	} else {
		opt = opts_by_letter(command, code, &group);
	}
	base = group == &common_group ? (char *)result : (char *)options + group->base;
	set = opt->set ? opt->set : opt->words ? opt_set_word : opt_set_flag;
	ret = set(opt, optarg, base + opt->field, &why);
	if (ret) {
		error_set(err, ret, "%s: %.480s", command->name, why.text);
		if (why.hint[0])
			error_hint(err, "%s", why.hint);
	}
	return ret;
}

int opts_parse(const struct command *command, int argc, char **argv, void *options,
	       struct opts_parsed *result, struct error *err)
{
	struct opts_parsed parsed = *result;
	struct option longs[OPTS_MAX + 1];
	char shorts[2 * OPTS_MAX + 3];
	int code, ret;

	getopt_tables(command, longs, shorts);
	opterr = 0;
	optind = 0; /* GNU: forget the previous argv */
	while (!parsed.help && !parsed.version) {
		code = getopt_long(argc, argv, shorts, longs, NULL);
		if (code == -1)
			break;
		if (code == '?' || code == ':')
			return refused(command, argv[optind - 1], code, err);
		ret = store(command, code, argv, options, &parsed, err);
		if (ret)
			return ret;
	}
	parsed.first = optind;
	*result = parsed;
	return 0;
}
