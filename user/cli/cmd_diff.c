// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "option/command.h"
#include "cli/viewer.h"
#include "report/profile_file.h"
#include "base/output.h"
#include "report/diff.h"
#include "report/html.h"

#define TEXT_ROWS 40

/* The values of all --map options. */
struct diff_maps {
	struct diff_map *maps;
	size_t nr;
	size_t capacity;
};

struct diff_arguments {
	unsigned int by; /* enum report_by; only the first three */
	unsigned int format; /* enum report_format */
	uint64_t limit;
	bool wide;
	double fail_above; /* NAN: not given */
	struct diff_maps maps;
	struct page_arguments page;
	struct pager pager;
};

static const char *const by_words[] = { "functions", "objects", "lines", NULL };
static const char *const format_words[] = { "text", "csv", "json", NULL };

static int set_percent(const struct opt *opt, const char *value, void *field, struct error *err)
{
	double *percent = field;

	if (parse_double(value, percent) || *percent < 0 || *percent > 100)
		return opt_bad(opt, value, err, "not a number from 0 to 100");
	return 0;
}

/* The words stay in the command line's memory, where the '=' is replaced by a NUL. */
static int set_map(const struct opt *opt, const char *value, void *field, struct error *err)
{
	char *equals = strchr(value, '=');
	struct diff_maps *maps = field;
	int ret;

	if (!equals || equals == value || !equals[1])
		return opt_bad(opt, value, err, "must be OLD=NEW");
	ret = GROW(maps->maps, maps->capacity, maps->nr + 1);
	if (ret)
		return error_errno(err, ret, "--%s", opt->name);
	*equals = '\0';
	maps->maps[maps->nr++] = (struct diff_map){ value, equals + 1 };
	return 0;
}

#define FIELD(member) offsetof(struct diff_arguments, member)

static const struct opt diff_opts[] = {
	{ .name = "by",
	  .arg = "functions|objects|lines",
	  .help = "a row for each of these; lines need the binaries of both profiles",
	  .fallback = "functions",
	  .words = by_words,
	  .field = FIELD(by) },
	{ .name = "format",
	  .arg = "text|csv|json",
	  .help = "how to write the rows",
	  .fallback = "text",
	  .words = format_words,
	  .field = FIELD(format) },
	{ .name = "limit",
	  .arg = "N",
	  .help = "the N first rows; 0 is all of them",
	  .fallback = "40 as text, else all",
	  .set = opt_set_u64,
	  .max = UINT32_MAX,
	  .field = FIELD(limit) },
	{ .name = "fail-above",
	  .arg = "PERCENT",
	  .help = "exit with status 1 when a row takes more than PERCENT of the time more than it "
		  "did, and that is not noise",
	  .set = set_percent,
	  .field = FIELD(fail_above) },
	{ .name = "map",
	  .arg = "OLD=NEW",
	  .help = "compare the program or library OLD as NEW, each by its path or the last "
		  "component of it; may repeat",
	  .set = set_map,
	  .field = FIELD(maps) },
	{ .name = "wide",
	  .help = "cut no row",
	  .fallback = "rows as wide as the terminal, or 200 columns where it is none",
	  .field = FIELD(wide) },
	PAGER_OPT(FIELD(pager)),
	{ 0 }
};

static const struct opt_group diff_groups[] = {
	{ .title = "Table", .opts = diff_opts },
	PAGE_GROUP(FIELD(page)),
	{ 0 },
};

static int write_table(const struct diff *diff, const struct diff_arguments *arguments)
{
	const struct report_options options = {
		.format = arguments->format,
		.limit = arguments->limit,
		.color = color_enabled(stdout),
		.width = table_width(stdout, arguments->wide),
	};
	struct pager pager = arguments->pager;
	FILE *out;

	out = pager_begin(&pager);
	diff_write(diff, &options, out);
	return pager_end(&pager, out, 0, "diff: standard output");
}

static int put_page(const void *diff, FILE *out, struct error *err)
{
	return html_diff(diff, out, err);
}

static int write_diff(const struct diff *diff, const struct diff_arguments *arguments)
{
	const char *rows = report_by_words[diff->options->by];
	size_t above = 0, spared = 0;
	int status;

	if (!isnan(arguments->fail_above))
		above = diff_above(diff, arguments->fail_above, &spared);

	if (arguments->page.file)
		status = write_page(&arguments->page,
				    profile_is_confidential(diff->old) ||
					    profile_is_confidential(diff->new),
				    put_page, diff);
	else
		status = write_table(diff, arguments);
	if (!status && !arguments->page.file && (diff->old->callers || diff->new->callers))
		print_message(NULL, "diff: leaves out the callers, which report has");
	if (!status && spared)
		print_message(
			NULL,
			"diff: %zu of %zu %s grew by more than %g %% in share only, as the whole "
			"took less time",
			spared, diff->nr, rows, arguments->fail_above);
	if (status || !above)
		return status;
	print_message(NULL, "diff: %zu of %zu %s grew by more than %g %% of the time, beyond noise",
		      above, diff->nr, rows, arguments->fail_above);
	return EXIT_FAILURE;
}

static int compare(const struct profile *old, const struct profile *new, char *const *names,
		   const struct diff_arguments *arguments)
{
	const struct diff_options options = { .by = arguments->by,
					      .maps = arguments->maps.maps,
					      .nr_maps = arguments->maps.nr,
					      .old_name = names[0],
					      .new_name = names[1] };
	struct error err = { 0 };
	struct diff diff;
	int status = EXIT_FAILURE;

	if (diff_build(old, new, &options, &diff, &err))
		print_error(&err);
	else
		status = write_diff(&diff, arguments);
	diff_free(&diff);
	return status;
}

/* Whether the options make sense together. */
static bool check_arguments(const struct diff_arguments *arguments, int files)
{
	const struct opt_given not_of_page[] = { { "format", arguments->format },
						 { "limit", arguments->limit != UINT64_MAX },
						 { "wide", arguments->wide },
						 { 0 } };
	const char *option = opt_first_given(not_of_page);

	if (files != 2) {
		print_message("bpfprofil diff --help",
			      "diff: takes two profiles, OLD and NEW, not %d", files);
		return false;
	}
	if (!arguments->page.file || !option)
		return true;
	print_message("leaving it out", "diff: --html: takes no --%s, the page shows all", option);
	return false;
}

static int read_and_compare(char *const *names, const struct diff_arguments *arguments)
{
	struct profile *old = NULL, *new = NULL;
	struct error err = { 0 };
	int status = EXIT_FAILURE;

	if (profile_of_name(names[0], &old, &err) || profile_of_name(names[1], &new, &err))
		print_error(&err);
	else
		status = compare(old, new, names, arguments);
	profile_free(old);
	profile_free(new);
	return status;
}

static int run(int argc, char **argv)
{
	struct diff_arguments arguments = { .limit = UINT64_MAX, .fail_above = NAN };
	int first, status;

	if (!command_parse(&command_diff, argc, argv, &arguments, &first, &status))
		goto out;
	if (!check_arguments(&arguments, argc - first) || !page_check("diff", &arguments.page)) {
		status = EXIT_USAGE;
		goto out;
	}
	if (arguments.limit == UINT64_MAX)
		arguments.limit = arguments.format == REPORT_TEXT ? TEXT_ROWS : 0;
	status = read_and_compare(argv + first, &arguments);
out:
	free(arguments.maps.maps);
	return status;
}

static const struct command_example diff_examples[] = {
	{ "what a change made slower", "bpfprofil diff before.json after.json" },
	{ "fail a build when a function takes 2 % of the time more",
	  "bpfprofil diff --fail-above 2 main.json branch.json" },
	{ "two programs, of which one is the other's successor",
	  "bpfprofil diff --map app-old=app-new before.json after.json" },
	{ "the same as a page to sort and search",
	  "bpfprofil diff --html changes.html before.json after.json" },
	{ 0 },
};

const struct command command_diff = {
	.name = "diff",
	.summary = "compare two profiles",
	.operands = "OLD NEW",
	.operand = VALUE_FILE,
	.description =
		"Reads the profiles OLD and NEW (- is standard input; a folder is the sum of "
		"those in it) and shows which text takes another share of the time, and "
		"which of these changes are noise.",
	.groups = diff_groups,
	.examples = diff_examples,
	.run = run,
};
