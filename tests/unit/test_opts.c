// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "option/opts.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/util.h"
#include "option/command.h"

struct settings {
	bool loud;
	const char *file;
	unsigned int color;
	uint64_t count;
};

struct nested {
	int before;
	struct settings settings;
};

static const char *const color_names[] = { "red", "green", "blue", NULL };

static const struct opt table[] = {
	{ .name = "loud",
	  .letter = 'l',
	  .help = "make noise",
	  .field = offsetof(struct settings, loud) },
	{ .name = "file",
	  .letter = 'f',
	  .arg = "FILE",
	  .help = "where to",
	  .fallback = "out",
	  .set = opt_set_string,
	  .field = offsetof(struct settings, file) },
	{ .name = "paint",
	  .arg = "COLOR",
	  .help = "a paint",
	  .words = color_names,
	  .field = offsetof(struct settings, color) },
	{ .name = "count",
	  .letter = 'n',
	  .arg = "N",
	  .help = "how many, explained with so many words that the line has to be wrapped",
	  .set = opt_set_u64,
	  .min = 2,
	  .max = 9,
	  .field = offsetof(struct settings, count) },
	{ 0 }
};

static const struct opt_group groups[] = {
	{ .title = "Things", .opts = table, .base = offsetof(struct nested, settings) },
	{ 0 },
};

static const struct command_example examples[] = { { "try it", "bpfprofil test x" }, { 0 } };

static const struct command permuting = {
	.name = "test",
	.operands = "X",
	.description = "Tests.",
	.groups = groups,
	.examples = examples,
};

static const struct command stopping = {
	.name = "run",
	.description = "Runs.",
	.groups = groups,
	.operands_end_options = true,
};

#define MAX_WORDS 8

struct parsed {
	int result;
	struct nested nested;
	struct opts_parsed opts;
	struct error err;
	int argc;
	char *argv[MAX_WORDS + 1];
};

/* Splits a line at blanks, as a shell would without quotes. */
static struct parsed parse(const struct command *command, char *line)
{
	struct parsed parsed = { 0 };
	char *word;

	for (word = strtok(line, " "); word && parsed.argc < MAX_WORDS; word = strtok(NULL, " "))
		parsed.argv[parsed.argc++] = word;
	parsed.result = opts_parse(command, parsed.argc, parsed.argv, &parsed.nested, &parsed.opts,
				   &parsed.err);
	return parsed;
}

#define PARSE(command, line) parse(command, (char[]){ line })

static void check_refused(const struct command *command, char *line, const char *text,
			  const char *hint)
{
	struct parsed parsed = parse(command, line);

	cr_assert_eq(parsed.result, -EINVAL);
	cr_assert_str_eq(parsed.err.text, text);
	cr_assert_str_eq(parsed.err.hint, hint);
}

#define REFUSED(line, text, hint) check_refused(&permuting, (char[]){ line }, text, hint)

Test(opts, values)
{
	struct parsed parsed = PARSE(&permuting, "test -lf a --paint=blues --count 9");

	cr_assert_eq(parsed.result, 0, "%s", parsed.err.text);
	cr_assert(parsed.nested.settings.loud);
	cr_assert_str_eq(parsed.nested.settings.file, "a");
	cr_assert_eq(parsed.nested.settings.color, 2);
	cr_assert_eq(parsed.nested.settings.count, 9);
	cr_assert_eq(parsed.nested.before, 0);
	cr_assert_eq(parsed.opts.first, parsed.argc);
}

Test(opts, last_one_wins)
{
	struct parsed parsed = PARSE(&permuting, "test --file a -fb");

	cr_assert_eq(parsed.result, 0);
	cr_assert_str_eq(parsed.nested.settings.file, "b");
}

Test(opts, options_behind_operands)
{
	struct parsed parsed = PARSE(&permuting, "test x --loud y");

	cr_assert_eq(parsed.result, 0);
	cr_assert(parsed.nested.settings.loud);
	cr_assert_eq(parsed.argc - parsed.opts.first, 2);
	cr_assert_str_eq(parsed.argv[parsed.opts.first], "x");
}

Test(opts, command_keeps_its_options)
{
	struct parsed parsed = PARSE(&stopping, "run -n 3 ls --loud --unknown -n 1");

	cr_assert_eq(parsed.result, 0, "%s", parsed.err.text);
	cr_assert_not(parsed.nested.settings.loud);
	cr_assert_eq(parsed.nested.settings.count, 3);
	cr_assert_str_eq(parsed.argv[parsed.opts.first], "ls");
}

Test(opts, dashes_end_options)
{
	struct parsed parsed = PARSE(&stopping, "run -- --loud");

	cr_assert_eq(parsed.result, 0);
	cr_assert_not(parsed.nested.settings.loud);
	cr_assert_str_eq(parsed.argv[parsed.opts.first], "--loud");
}

Test(opts, common_options)
{
	struct parsed parsed = PARSE(&permuting, "test --color never");

	cr_assert_eq(parsed.result, 0);
	cr_assert_eq(parsed.opts.color, COLOR_NEVER);
	parsed = PARSE(&permuting, "test --version");
	cr_assert(parsed.opts.version);
}

/* What follows --help is ignored. */
Test(opts, help_stops)
{
	struct parsed parsed = PARSE(&permuting, "test -h --nonsense");

	cr_assert_eq(parsed.result, 0);
	cr_assert(parsed.opts.help);
}

Test(opts, unknown)
{
	REFUSED("test --lod", "test: unknown option '--lod'", "--loud");
	REFUSED("test --xyzzy=3", "test: unknown option '--xyzzy'", "bpfprofil test --help");
	REFUSED("test -lx", "test: unknown option '-x'", "bpfprofil test --help");
	REFUSED("test -l-", "test: unknown option '--'", "bpfprofil test --help");
}

/* getopt_long would accept each of these. */
Test(opts, no_abbreviations)
{
	REFUSED("test --fil a", "test: unknown option '--fil'", "--file");
	REFUSED("test --fil=a", "test: unknown option '--fil'", "--file");
	REFUSED("test --lou", "test: unknown option '--lou'", "--loud");
	REFUSED("test x --cou 3", "test: unknown option '--cou'", "--count");
}

Test(opts, values_missing_or_too_many)
{
	REFUSED("test --loud -z5", "test: unknown option '-z'", "bpfprofil test --help");
	REFUSED("test -lz5", "test: unknown option '-z'", "bpfprofil test --help");
	REFUSED("test --fil", "test: unknown option '--fil'", "--file");
	REFUSED("test --lou=1", "test: unknown option '--lou'", "--loud");
	REFUSED("test --file", "test: --file needs a value", "bpfprofil test --help");
	REFUSED("test -lf", "test: -f needs a value", "bpfprofil test --help");
	REFUSED("test --loud=1", "test: --loud takes no value", "bpfprofil test --help");
}

Test(opts, bad_values)
{
	REFUSED("test --count 1", "test: --count '1': must be a whole number from 2 to 9", "");
	REFUSED("test -n 10", "test: --count '10': must be a whole number from 2 to 9", "");
	REFUSED("test -n 3x", "test: --count '3x': must be a whole number from 2 to 9", "");
	REFUSED("test -n -3", "test: --count '-3': must be a whole number from 2 to 9", "");
	REFUSED("test --file=", "test: --file '': must not be empty", "");
	REFUSED("test --paint gren", "test: --paint 'gren': must be one of red, green, blue",
		"--paint green");
	REFUSED("test --paint x", "test: --paint 'x': must be one of red, green, blue", "");
}

Test(opts, help_text)
{
	cleanup_free char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	opts_help(&permuting, out, 70);
	fclose(out);
	cr_assert_str_eq(text,
			 "Usage: bpfprofil test [OPTIONS] X\n"
			 "\n"
			 "Tests.\n"
			 "\n"
			 "Things:\n"
			 "  -l, --loud                make noise\n"
			 "  -f, --file FILE           where to (default: out)\n"
			 "      --paint COLOR         a paint\n"
			 "  -n, --count N             how many, explained with so many words\n"
			 "                            that the line has to be wrapped\n"
			 "\n"
			 "Common:\n"
			 "      --color WHEN          colours: auto (on a terminal, unless\n"
			 "                            NO_COLOR is set), always or never\n"
			 "                            (default: auto)\n"
			 "  -h, --help                show this help\n"
			 "      --version             show the version, the libbpf and the\n"
			 "                            kernel\n"
			 "\n"
			 "Examples:\n"
			 "  # try it\n"
			 "  bpfprofil test x\n"
			 "\n"
			 "The manual: man bpfprofil-test\n");
}

/* What every table must satisfy so that parsing works. */
Test(opts, tables_are_sound)
{
	const struct opt_group *group;
	const struct opt *opt, *other;
	size_t i, j;

	for (i = 0; (opt = opts_at(&permuting, i, &group)); i++) {
		cr_assert((opt->set || opt->words || !opt->arg) && opt->help && group->title);
		for (j = 0; j < i; j++) {
			other = opts_at(&permuting, j, &group);
			cr_assert_str_neq(opt->name, other->name);
			cr_assert(!opt->letter || opt->letter != other->letter);
		}
	}
	cr_assert_eq(i, 7);
}

Test(nearest, words)
{
	static const char *const words[] = { "run", "report", "export", "doctor", NULL };

	cr_assert_str_eq(nearest_word("rnu", words), "run");
	cr_assert_str_eq(nearest_word("rport", words), "report");
	cr_assert_str_eq(nearest_word("exprt", words), "export");
	cr_assert_str_eq(nearest_word("do", words), "doctor");
	cr_assert_null(nearest_word("", words));
	cr_assert_null(nearest_word("x", words));
	cr_assert_null(nearest_word("attach", words));
}

Test(nearest, distance)
{
	char longest[100];

	cr_assert_eq(word_distance("", ""), 0);
	cr_assert_eq(word_distance("abc", ""), 3);
	cr_assert_eq(word_distance("kitten", "sitting"), 3);
	cr_assert_eq(word_distance("ab", "ba"), 1);
	memset(longest, 'a', sizeof(longest));
	longest[99] = '\0';
	cr_assert_eq(word_distance(longest, "a"), SIZE_MAX);
	longest[63] = '\0';
	cr_assert_eq(word_distance(longest, longest), 0);
}

static bool is_word(const char *arg, const char *const *words)
{
	for (; *words; words++)
		if (!strcmp(arg, *words))
			return true;
	return false;
}

/* No option with a kind of value that shells know was forgotten. */
Test(opts, each_value_is_of_a_kind)
{
	static const char *const known[] = { "FILE", "DIR",    "PATH",	  "PID", "PID[,PID...]",
					     "WHEN", "FORMAT", "NAME|ID", NULL };
	const struct opt_group *group;
	const struct opt *opt;
	size_t i, k;

	for (i = 0; commands[i]; i++)
		for (k = 0; (opt = opts_at(commands[i], k, &group)); k++)
			if (opt->arg && (is_word(opt->arg, known) || strchr(opt->arg, '|')))
				cr_expect(opt->value != VALUE_ANY || opt_word(opt, 0), "%s --%s",
					  commands[i]->name, opt->name);
}
