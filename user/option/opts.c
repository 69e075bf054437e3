// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "option/opts.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include "base/nearest.h"
#include "base/util.h"
#include "option/command.h"

struct meant {
	const char *option; /* the option that the value is for; NULL in the other tables */
	const char *typed;
	const char *hint;
};

static const struct meant meant_commands[] = {
	{ NULL, "record", "bpfprofil run" },
	{ NULL, "stat", "bpfprofil run" },
	{ NULL, "script", "bpfprofil export" },
	{ NULL, "list", "bpfprofil doctor" },
	{ NULL, "annotate", "bpfprofil report --annotate PLACE" },
	{ 0 },
};

#define MEANT_WAITS "--waits"
#define MEANT_EVENTS "leaving it out for the CPU clock, or perf record for other events"

static const struct meant meant_options[] = {
	{ NULL, "hz", "--frequency" },
	{ NULL, "rate", "--frequency" },
	{ NULL, "p", "--pid" },
	{ NULL, "a", "--all" },
	{ NULL, "all-cpus", "--all" },
	{ NULL, "d", "--duration" },
	{ NULL, "time", "--duration" },
	{ NULL, "g", "--callers" },
	{ NULL, "call-graph", "--callers" },
	{ NULL, "sort", "--by" },
	{ NULL, "children", "--inclusive" },
	{ NULL, "no-children", "leaving it out" },
	{ NULL, "G", "--callers" },
	{ NULL, "top", "--limit" },
	{ NULL, "n", "--limit" },
	{ NULL, "tid", "--by thread" },
	{ NULL, "comms", "--comm" },
	{ NULL, "dsos", "--object" },
	{ NULL, "dso", "--object" },
	{ NULL, "symbol", "--function" },
	{ NULL, "symbols", "--function" },
	{ NULL, "off-cpu", MEANT_WAITS },
	{ NULL, "offcpu", MEANT_WAITS },
	{ NULL, "wall", MEANT_WAITS },
	{ NULL, "wall-clock", MEANT_WAITS },
	{ NULL, "event", MEANT_EVENTS },
	{ NULL, "e", MEANT_EVENTS },
	{ 0 },
};

static const struct meant meant_words[] = {
	{ "by", "symbol", "--by functions" },
	{ "by", "sym", "--by functions" },
	{ "by", "dso", "--by objects" },
	{ "by", "srcline", "--by lines" },
	{ "by", "pid", "--by process" },
	{ "by", "tid", "--by thread" },
	{ "by", "container", "--by cgroup" },
	{ "format", "html", "bpfprofil report --html FILE" },
	{ "format", "flamegraph", "bpfprofil export --format folded" },
	{ "format", "svg",
	  "--format folded for flamegraph.pl, --format speedscope, or bpfprofil report --html FILE" },
	{ "format", "gprof", "bpfprofil export --format gmon" },
	{ 0 },
};

static const char *find(const struct meant *table, const char *option, const char *typed)
{
	for (; table->typed; table++)
		if (!strcmp(table->typed, typed) && (!option || !strcmp(table->option, option)))
			return table->hint;
	return NULL;
}

const char *meant_by_command(const char *typed)
{
	return find(meant_commands, NULL, typed);
}

/*
 * For an option without its dashes. A hint that begins with -- is right only if the command has
 * that option.
 */
static const char *meant_by_option(const char *typed)
{
	return find(meant_options, NULL, typed);
}

bool opt_hint_word(const struct opt *opt, const char *typed, const char *const *words,
		   struct error *err)
{
	const char *meant = find(meant_words, opt->name, typed);
	const char *nearest = meant ? NULL : nearest_word(typed, words);

	if (meant)
		error_hint(err, "%s", meant);
	else if (nearest)
		error_hint(err, "--%s %s", opt->name, nearest);
	return meant || nearest;
}

/* The setters that option tables share. */

struct unit {
	const char *name;
	uint64_t of;
};

int opt_bad(const struct opt *opt, const char *value, struct error *err, const char *why, ...)
{
	char reason[256];
	va_list args;

	va_start(args, why);
	vsnprintf(reason, sizeof(reason), why, args);
	va_end(args);
	return error_set(err, -EINVAL, "--%s '%.128s': %s", opt->name, value, reason);
}

static int opt_set_flag(const struct opt *opt, const char *value, void *field, struct error *err)
{
	bool *flag = field;

	(void)opt;
	(void)value;
	(void)err;
	*flag = true;
	return 0;
}

int opt_set_string(const struct opt *opt, const char *value, void *field, struct error *err)
{
	const char **string = field;

	if (!*value)
		return opt_bad(opt, value, err, "must not be empty");
	*string = value;
	return 0;
}

/* Accepts both "process" and "processes", so that nobody must know which of them an option has. */
static bool is_word(const char *word, const char *typed)
{
	size_t length = strlen(word), other = strlen(typed);
	const char *more = length < other ? typed + length : word + other;

	return !strncmp(word, typed, length < other ? length : other) &&
	       (!*more || !strcmp(more, "s") || !strcmp(more, "es"));
}

/* field is an unsigned int, the index of the word. */
static int opt_set_word(const struct opt *opt, const char *value, void *field, struct error *err)
{
	unsigned int *choice = field, i;
	char list[160];
	size_t length = 0;

	for (i = 0; opt->words[i]; i++) {
		if (is_word(opt->words[i], value)) {
			*choice = i;
			return 0;
		}
	}
	for (i = 0; opt->words[i] && length < sizeof(list); i++)
		length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%s",
					   i ? ", " : "", opt->words[i]);
	opt_bad(opt, value, err, "must be one of %s", list);
	opt_hint_word(opt, value, opt->words, err);
	return -EINVAL;
}

int opt_set_u64(const struct opt *opt, const char *value, void *field, struct error *err)
{
	uint64_t *number = field, parsed = 0;

	if (parse_u64(value, &parsed) || parsed < opt->min || parsed > opt->max) {
		if (opt->max == UINT64_MAX)
			return opt_bad(opt, value, err, "must be a whole number, at least %" PRIu64,
				       opt->min);
		return opt_bad(opt, value, err,
			       "must be a whole number from %" PRIu64 " to %" PRIu64, opt->min,
			       opt->max);
	}
	*number = parsed;
	return 0;
}

int opt_set_percent(const struct opt *opt, const char *value, void *field, struct error *err)
{
	double *percent = field;

	if (parse_double(value, percent) || *percent < 0 || *percent > 100)
		return opt_bad(opt, value, err, "is not a percentage from 0 to 100");
	return 0;
}

/* In the largest unit that divides it: 100ms, 64K. */
static void print_least(uint64_t least, const struct unit *units, char text[24])
{
	while (least % units->of)
		units++;
	snprintf(text, 24, "%" PRIu64 "%s", least / units->of, units->name);
}

static int set_quantity(const struct opt *opt, const char *value, uint64_t *field, bool is_time,
			struct error *err)
{
	static const struct unit times[] = { { "s", 1000000000 }, { "ms", 1000000 }, { "ns", 1 } };
	static const struct unit sizes[] = { { "M", 1 << 20 }, { "K", 1 << 10 }, { "", 1 } };
	const uint64_t min = opt->min ? opt->min : 1, max = opt->max ? opt->max : INT64_MAX;
	char least[24];
	uint64_t parsed;

	if (!(is_time ? parse_duration : parse_size)(value, &parsed) && parsed >= min &&
	    parsed <= max) {
		*field = parsed;
		return 0;
	}
	print_least(min, is_time ? times : sizes, least);
	return opt_bad(opt, value, err, "must be a %s%s%s%s %s", is_time ? "time" : "size",
		       opt->min ? " of at least " : "", opt->min ? least : "",
		       opt->min ? ", like" : " like", opt->like);
}

int opt_set_time(const struct opt *opt, const char *value, void *field, struct error *err)
{
	return set_quantity(opt, value, field, true, err);
}

int opt_set_size(const struct opt *opt, const char *value, void *field, struct error *err)
{
	return set_quantity(opt, value, field, false, err);
}

const char *opt_first_given(const struct opt_given *list)
{
	while (list->name && !list->given)
		list++;
	return list->name;
}

/*
 * The maximum of options of a command, including the common ones, and getopt's value for the first
 * of them.
 */
#define OPTS_MAX 48
#define OPTS_BASE 256

static const char *const color_words[] = { "auto", "always", "never", NULL };

static const struct opt common_opts[] = {
	OPT_WORD("color", offsetof(struct opts_parsed, color), "WHEN", color_words,
		 "colours: auto (on a terminal, unless NO_COLOR is set), always or never",
		 .fallback = "auto"),
	OPT_FLAG("help", offsetof(struct opts_parsed, help), "show this help", .letter = 'h'),
	OPT_FLAG("version", offsetof(struct opts_parsed, version),
		 "show the version, the libbpf and the kernel"),
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
 * Fills getopt's two tables. With a leading ':' getopt distinguishes a missing value from an
 * unknown option.
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

/* The option of ours that replaces an option of another tool. NULL: the command has none. */
static const char *meant_here(const struct command *command, const char *typed)
{
	const char *meant = meant_by_option(typed);
	const struct opt_group *group;
	const struct opt *opt;
	size_t i;

	/*
	 * perf record -a COMMAND corresponds to attach, which runs until ^C and without a command.
	 */
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

/* getopt accepts "--freq" for "--frequency"; we do not. */
static bool abbreviated(const struct opt *opt, const char *word)
{
	size_t length = strlen(opt->name);

	return strncmp(word + 2, opt->name, length) ||
	       (word[2 + length] && word[2 + length] != '=');
}

/*
 * getopt refused an option: a letter, which is in optopt, or the long option of the word. For a
 * long one, optopt is its value in our table, or 0 if it is not there.
 */
static int refused(const struct command *command, const char *word, int code, struct error *err)
{
	const struct opt_group *group;
	const struct opt *opt = NULL;

	if (optopt >= OPTS_BASE)
		opt = opts_at(command, (size_t)(optopt - OPTS_BASE), &group);
	if (!optopt || (opt && abbreviated(opt, word)))
		return unknown_long(command, word + 2, err);
	if (!opt && code == '?')
		return unknown_letter(command, optopt, err);
	if (code == '?')
		error_set(err, -EINVAL, "%s: --%s takes no value", command->name, opt->name);
	else if (opt)
		error_set(err, -EINVAL, "%s: --%s needs a value", command->name, opt->name);
	else
		error_set(err, -EINVAL, "%s: -%c needs a value", command->name, optopt);
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

/* The word that getopt last read as an option, whether the value was separate or after a '='. */
static const char *last_word(char **argv)
{
	return argv[optarg && optarg == argv[optind - 1] ? optind - 2 : optind - 1];
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

/* The text of --help, from the tables that parsing uses. */

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
