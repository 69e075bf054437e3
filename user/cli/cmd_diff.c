// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "option/command.h"
#include "cli/viewer.h"
#include "report/profile_file.h"
#include "base/output.h"
#include "profile/waits_view.h"
#include "report/diff.h"
#include "report/html.h"

#define TEXT_ROWS 40
#define PART_ROWS 10 /* of each of several tables */

/*
 * More values of --by, besides the first ones of enum report_by. The default is functions, and more
 * tables as text.
 */
enum { BY_CALLS = REPORT_LINES + 1, BY_DEFAULT = UINT_MAX };

/* The values of all --map options. */
struct diff_maps {
	struct diff_map *maps;
	size_t nr;
	size_t capacity;
};

struct diff_arguments {
	unsigned int by; /* the first three of enum report_by, BY_CALLS or BY_DEFAULT */
	bool inclusive;
	bool waits;
	unsigned int format; /* enum report_format */
	uint64_t limit;
	bool wide;
	double fail_above; /* NAN: not given */
	struct diff_maps maps;
	struct page_arguments page;
	struct pager pager;
};

static const char *const by_words[] = { "functions", "objects", "lines", "calls", NULL };
static const char *const format_words[] = { "text", "csv", "json", NULL };

/* The words stay in the memory of the command line, and a NUL replaces the '='. */
static int set_map(const struct opt *opt, const char *value, void *field, struct error *err)
{
	char *equals = strchr(value, '=');
	struct diff_maps *maps = field;
	int ret;

	if (!equals || equals == value || !equals[1])
		return opt_bad(opt, value, err, "must be OLD=NEW");
	*equals = '\0';
	ret = PUSH(maps->maps, maps->capacity, maps->nr, (struct diff_map){ value, equals + 1 });
	return ret ? error_errno(err, ret, "--%s", opt->name) : 0;
}

#define FIELD(member) offsetof(struct diff_arguments, member)

static const struct opt diff_opts[] = {
	OPT_WORD("by", FIELD(by), "functions|objects|lines|calls", by_words,
		 "a row for each of these; lines need the binaries of both profiles, and calls need "
		 "their callers",
		 .fallback = "functions; as text all tables if both have callers"),
	OPT_FLAG("inclusive", FIELD(inclusive),
		 "compare functions or objects with all that they called, in profiles with callers",
		 .fallback = "each alone"),
	OPT_FLAG("waits", FIELD(waits),
		 "compare where threads waited instead of where they ran: seconds and number of "
		 "waits, by function and class"),
	OPT_WORD("format", FIELD(format), "text|csv|json", format_words,
		 "write the rows in this format", .fallback = "text"),
	OPT_NUMBER("limit", FIELD(limit), "N", 0, UINT32_MAX, "the first N rows; 0 shows all",
		   .fallback = "as text 40, or 10 per table; else all"),
	OPT_PERCENT(
		"fail-above", FIELD(fail_above),
		"exit with status 1 if the share of a row grew by more than PERCENT of the time, "
		"beyond noise"),
	OPT_SETTER("map", "OLD=NEW", set_map,
		   "compare the program or library OLD as NEW, each by its path or the last "
		   "component of it; repeatable",
		   .field = FIELD(maps)),
	OPT_FLAG("wide", FIELD(wide), "do not shorten rows",
		 .fallback = "rows as wide as the terminal, else 200 columns"),
	PAGER_OPT(FIELD(pager)),
	{ 0 }
};

static const struct opt_group diff_groups[] = {
	{ .title = "Table", .opts = diff_opts },
	PAGE_GROUP(FIELD(page)),
	{ 0 },
};

/* Compares the same two profiles with other options. */
static int build_like(const struct diff *diff, const struct diff_options *options,
		      struct diff *result)
{
	struct error err = { 0 };
	int ret = diff_build(diff->old, diff->new, options, result, &err);

	if (ret)
		print_error(&err);
	return ret;
}

static int write_all(const struct diff *diff, const struct report_options *options, FILE *out)
{
	struct diff_options of_calls = *diff->options, of_all = *diff->options;
	struct diff calls = { 0 }, all = { 0 };
	int ret;

	of_all.inclusive = of_calls.inclusive = of_calls.calls = true;
	ret = build_like(diff, &of_all, &all);
	if (!ret)
		ret = build_like(diff, &of_calls, &calls);
	if (!ret)
		diff_write_all(&all, &calls, diff, options, out);
	diff_free(&calls);
	diff_free(&all);
	return ret;
}

static int write_table(const struct diff *diff, const struct diff_arguments *arguments)
{
	const bool all = arguments->by == BY_DEFAULT && !arguments->waits &&
			 !arguments->inclusive && arguments->format == REPORT_TEXT &&
			 diff->old->callers && diff->new->callers;
	const struct report_options options = {
		.format = arguments->format,
		.limit = arguments->limit != UINT64_MAX	  ? arguments->limit :
			 arguments->format != REPORT_TEXT ? 0 :
			 all				  ? PART_ROWS :
							    TEXT_ROWS,
		.color = color_enabled(stdout),
		.width = table_width(stdout, arguments->wide),
	};
	struct pager pager = arguments->pager;
	FILE *out;
	int ret = 0;

	out = pager_begin(&pager);
	if (all)
		ret = write_all(diff, &options, out);
	else
		diff_write(diff, &options, out);
	return pager_end(&pager, out, ret, "diff: standard output");
}

static int put_page(const void *diff, FILE *out, struct error *err)
{
	return html_diff(diff, out, err);
}

static int write_diff(const struct diff *diff, const struct diff_arguments *arguments)
{
	const char *rows = diff_word(diff);
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
	if (!status && spared)
		print_message(
			NULL,
			"diff: %zu of %zu %s grew by more than %g %% in share only, as the whole "
			"took less time",
			spared, diff->nr, rows, arguments->fail_above);
	if (status || !above)
		return status;
	return failure(NULL,
		       "diff: %zu of %zu %s grew by more than %g %% of the time, beyond noise",
		       above, diff->nr, rows, arguments->fail_above);
}

/* Whether both profiles have callers. */
static bool check_callers(const struct profile *old, const char *old_name,
			  const struct profile *new, const char *new_name)
{
	const struct profile *without = !old->callers ? old : !new->callers ? new : NULL;

	if (without)
		print_message("sudo bpfprofil run --callers COMMAND, for both",
			      "diff: %.200s: the profile has no callers",
			      without == old ? old_name : new_name);
	return !without;
}

static int compare(const struct profile *old, const struct profile *new, char *const *names,
		   const struct waits_view views[2], const struct diff_arguments *arguments)
{
	const bool calls = arguments->by == BY_CALLS;
	const struct diff_options options = { .by = arguments->by <= REPORT_LINES ?
							    arguments->by :
							    REPORT_FUNCTIONS,
					      .inclusive = arguments->inclusive || calls,
					      .calls = calls,
					      .maps = arguments->maps.maps,
					      .nr_maps = arguments->maps.nr,
					      .old_name = names[0],
					      .new_name = names[1],
					      .old_waits = views,
					      .new_waits = views ? &views[1] : NULL };
	struct error err = { 0 };
	struct diff diff;
	int status = EXIT_FAILURE;

	if (options.inclusive && !views && !check_callers(old, names[0], new, names[1]))
		return EXIT_FAILURE;
	if (diff_build(old, new, &options, &diff, &err))
		print_error(&err);
	else
		status = write_diff(&diff, arguments);
	diff_free(&diff);
	return status;
}

static int compare_waits(const struct profile *old, const struct profile *new, char *const *names,
			 const struct diff_arguments *arguments)
{
	const struct profile *without = !old->waits ? old : !new->waits ? new : NULL;
	struct waits_view views[2] = { 0 };
	struct error err;
	int status = EXIT_FAILURE;

	if (without)
		return failure("sudo bpfprofil run --waits COMMAND, for both",
			       "diff: %.200s: the profile has no waits", names[without != old]);
	if (arguments->inclusive && !check_callers(old, names[0], new, names[1]))
		return EXIT_FAILURE;
	if (waits_view_open(&views[0], old, NULL, false) ||
	    waits_view_open(&views[1], new, NULL, false)) {
		error_no_memory(&err, "diff");
		print_error(&err);
	} else {
		status = compare(&views[0].profile, &views[1].profile, names, views, arguments);
	}
	waits_view_close(&views[0]);
	waits_view_close(&views[1]);
	return status;
}

/* Waits have no shares, and neither lines nor calls yet. */
static bool check_waits(const struct diff_arguments *arguments)
{
	const struct opt_given not_of_waits[] = {
		{ "html", arguments->page.file },
		{ "fail-above", !isnan(arguments->fail_above) },
		{ "by lines", arguments->by == REPORT_LINES },
		{ "by calls", arguments->by == BY_CALLS },
		{ 0 },
	};
	const char *option = opt_first_given(not_of_waits);

	if (!arguments->waits || !option)
		return true;
	return refuse("leaving it out", "diff: --waits: takes no --%s", option);
}

/* Whether the options make sense together. */
static bool check_arguments(const struct diff_arguments *arguments, int files)
{
	const struct opt_given not_of_page[] = { { "format", arguments->format },
						 { "limit", arguments->limit != UINT64_MAX },
						 { "wide", arguments->wide },
						 { "inclusive", arguments->inclusive },
						 { "by calls", arguments->by == BY_CALLS },
						 { 0 } };
	const char *option = opt_first_given(not_of_page);

	if (files != 2)
		return refuse("bpfprofil diff --help",
			      "diff: takes two profiles, OLD and NEW, not %d", files);
	if (arguments->inclusive && arguments->by == REPORT_LINES)
		return refuse("leaving one of them out", "diff: --inclusive: not with --by lines");
	if (!check_waits(arguments))
		return false;
	if (!arguments->page.file || !option)
		return true;
	return refuse("leaving it out", "diff: --html: takes no --%s, the page shows all", option);
}

static int read_and_compare(char *const *names, const struct diff_arguments *arguments)
{
	struct profile *old = NULL, *new = NULL;
	struct error err = { 0 };
	int status = EXIT_FAILURE;

	if (profile_of_name(names[0], &old, &err) || profile_of_name(names[1], &new, &err))
		print_error(&err);
	else
		status = arguments->waits ? compare_waits(old, new, names, arguments) :
					    compare(old, new, names, NULL, arguments);
	profile_free(old);
	profile_free(new);
	return status;
}

static int run(int argc, char **argv)
{
	struct diff_arguments arguments = { .by = BY_DEFAULT,
					    .limit = UINT64_MAX,
					    .fail_above = NAN };
	int first, status;

	if (!command_parse(&command_diff, argc, argv, &arguments, &first, &status))
		goto out;
	if (!check_arguments(&arguments, argc - first) || !page_check("diff", &arguments.page)) {
		status = EXIT_USAGE;
		goto out;
	}
	status = read_and_compare(argv + first, &arguments);
out:
	free(arguments.maps.maps);
	return status;
}

static const struct command_example diff_examples[] = {
	{ "what a change made slower", "bpfprofil diff before.json after.json" },
	{ "fail a build if a function grows by 2 % of the total time",
	  "bpfprofil diff --fail-above 2 main.json branch.json" },
	{ "a program that was renamed",
	  "bpfprofil diff --map app-old=app-new before.json after.json" },
	{ "which caller made it slower, in profiles with callers",
	  "bpfprofil diff --by calls before.json after.json" },
	{ "what waits longer than before", "bpfprofil diff --waits before.json after.json" },
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
		"Reads the profiles OLD and NEW (- is standard input; a directory is the sum of its "
		"profiles) and shows which functions take more or less of the time, and which changes "
		"are only noise. With callers it also compares calls.",
	.groups = diff_groups,
	.examples = diff_examples,
	.run = run,
};
