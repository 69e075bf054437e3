// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "option/command.h"
#include "cli/viewer.h"
#include "report/profile_file.h"
#include "base/output.h"
#include "base/util.h"
#include "report/annotate.h"
#include "report/html.h"
#include "profile/waits.h"
#include "profile/waits_view.h"
#include "report/report.h"
#include "report/waits_table.h"
#include "naming/object_file.h"

#define TEXT_ROWS 40
#define MIN_PERCENT 0.5

/* The values of an option that may repeat. */
struct words {
	const char **all;
	size_t nr, room;
};

struct report_arguments {
	struct report_options table; /* as typed; table_options() adds what follows from the rest */
	bool wide;
	struct words objects;
	bool waits;
	struct words classes;
	struct words no_classes;
	const char *callers;
	const char *callees;
	bool tree;
	const char *annotate;
	bool hot;
	unsigned int syntax; /* enum disasm_syntax */
	const char *source;
	struct timeline *timeline; /* NULL: there is a single file */
	struct page_arguments page;
	struct pager pager;
};

static const char *const format_words[] = { "text", "csv", "json", NULL };
static const char *const syntax_words[] = { "att", "intel", NULL };

#define FIELD(member) offsetof(struct report_arguments, member)

static int add_word(const struct opt *opt, const char *value, void *field, struct error *err)
{
	struct words *words = field;

	if (!*value)
		return opt_bad(opt, value, err, "must not be empty");
	if (PUSH(words->all, words->room, words->nr, value))
		return error_errno(err, -ENOMEM, "--%s", opt->name);
	return 0;
}

static const struct opt report_opts[] = {
	OPT_WORD(
		"by", FIELD(table.by),
		"functions|objects|lines|bins|process|cgroup|thread|comm|cpu|time", report_by_words,
		"a row for each of these; lines need the binaries with debug information; process, "
		"cgroup, thread and comm (process name) need a profile from --split; time has a row "
		"for each FILE",
		.fallback = "functions"),
	OPT_FLAG("inline", FIELD(table.inlined),
		 "functions as in the source, with rows for inlined functions; needs the binaries "
		 "with debug information"),
	OPT_FLAG("inclusive", FIELD(table.inclusive),
		 "sort by inclusive share, in a profile with callers", .fallback = "self"),
	OPT_WORD("format", FIELD(table.format), "text|csv|json", format_words,
		 "write the rows in this format", .fallback = "text"),
	OPT_NUMBER(
		"limit", FIELD(table.limit), "N", 0, UINT32_MAX,
		"show the N hottest rows, or annotate the N hottest functions of --html; 0 is all",
		.fallback = "40, but all for --by time, --min, csv and json"),
	OPT_FLAG("wide", FIELD(wide), "do not shorten rows",
		 .fallback = "rows as wide as the terminal, else 200 columns"),
	PAGER_OPT(FIELD(pager)),
	{ 0 }
};

static const struct opt tree_opts[] = {
	OPT_STRING("callers", FIELD(callers), "FUNCTION",
		   "show the callers of FUNCTION, level by level to the first frame"),
	OPT_STRING("callees", FIELD(callees), "FUNCTION", "show the callees of FUNCTION"),
	OPT_FLAG("tree", FIELD(tree), "show the call tree from the first frame"),
	OPT_PERCENT("min", FIELD(table.min),
		    "leave out rows with a smaller share, of all or of FUNCTION",
		    .fallback = "0.5"),
	OPT_NUMBER("depth", FIELD(table.depth), "N", 0, UINT32_MAX, "at most N levels; 0 shows all",
		   .fallback = "0"),
	{ 0 }
};

static const struct opt waits_opts[] = {
	OPT_FLAG("waits", FIELD(waits),
		 "show where threads waited instead of where they ran, by class: the system call, "
		 "page fault, runnable and the like"),
	OPT_SETTER("class", "PATTERN", add_word,
		   "only waits whose class matches PATTERN (*, ?, []); implies --waits; repeatable",
		   .fallback = "all", .field = FIELD(classes)),
	OPT_SETTER(
		"no-class", "PATTERN", add_word,
		"no waits whose class matches, such as epoll_wait of idle threads; implies --waits; "
		"repeatable",
		.field = FIELD(no_classes)),
	{ 0 }
};

static const struct opt filter_opts[] = {
	OPT_SETTER("object", "NAME", add_word,
		   "only this program or library, by its path or the last component of it, with or "
		   "without its version; repeatable",
		   .fallback = "all", .field = FIELD(objects)),
	OPT_STRING(
		"comm", FIELD(table.comm), "PATTERN",
		"only processes or threads whose name matches PATTERN (*, ?, []); needs a profile "
		"from --split",
		.fallback = "all"),
	OPT_STRING("function", FIELD(table.function), "PATTERN",
		   "only functions whose name matches PATTERN (*, ?, [])", .fallback = "all"),
	OPT_NUMBER("target", FIELD(table.target), "ID", 0, UINT32_MAX,
		   "only the target with this number, as listed above the table",
		   .fallback = "all"),
	OPT_DIR("symfs", FIELD(table.symfs),
		"look for programs and libraries below DIR; use /proc/PID/root for a container",
		.fallback = "their own paths"),
	{ 0 }
};

static const struct opt annotate_opts[] = {
	OPT_STRING("annotate", FIELD(annotate), "PLACE",
		   "show one function by instruction, with its source, instead of a table; PLACE "
		   "is SYMBOL, OBJECT:SYMBOL, OBJECT:OFFSET or FILE:LINE"),
	OPT_FLAG("hot", FIELD(hot), "hottest instruction first, not by address"),
	OPT_WORD("syntax", FIELD(syntax), "att|intel", syntax_words,
		 "use this syntax for x86 instructions", .fallback = "att"),
	OPT_DIR("source", FIELD(source),
		"look for source files below DIR, too, by the ends of their paths"),
	{ 0 }
};

static const struct opt_group report_groups[] = {
	{ .title = "Table", .opts = report_opts },
	{ .title = "Callers, in a profile that has them", .opts = tree_opts },
	{ .title = "Waits, in a profile that has them", .opts = waits_opts },
	{ .title = "One function", .opts = annotate_opts },
	PAGE_GROUP(FIELD(page)),
	{ .title = "Filters and files", .opts = filter_opts },
	{ 0 },
};

static enum report_tree tree_of(const struct report_arguments *arguments)
{
	if (arguments->callers)
		return TREE_CALLERS;
	if (arguments->callees)
		return TREE_CALLEES;
	return arguments->tree ? TREE_ALL : TREE_NONE;
}

static struct report_options table_options(const struct report_arguments *arguments)
{
	struct report_options options = arguments->table;

	options.function = arguments->callers ?: arguments->callees ?: options.function;
	options.callers = true;
	options.tree = options.by == REPORT_TIME ? TREE_NONE : tree_of(arguments);
	options.min = options.min < 0 ? MIN_PERCENT : options.min;
	options.hints_symfs = !options.symfs;
	options.timeline = arguments->timeline;
	options.brief = terminal_attached(stdout);
	options.color = color_enabled(stdout);
	options.width = table_width(stdout, arguments->wide);
	return options;
}

static int write_ticks(const struct profile *profile, const struct report_arguments *arguments,
		       FILE *out, struct error *err)
{
	const struct report_options options = table_options(arguments);

	return report_write(profile, &options, out, err);
}

/* -EINVAL: nothing waited in such a class. */
static int check_classes(const struct profile_waits *waits, const struct words *classes,
			 struct error *err)
{
	size_t i, j;

	for (i = 0; i < classes->nr; i++) {
		const struct waits_choice one = { .only = &classes->all[i], .nr_only = 1 };

		for (j = 0; j < waits->nr_classes; j++)
			if (waits_choice_has(&one, &waits->classes[j]))
				break;
		if (j == waits->nr_classes)
			return error_with_hint(err, -EINVAL,
					       "bpfprofil report --waits, which has all classes",
					       "--class '%.256s': nothing waited in it",
					       classes->all[i]);
	}
	return 0;
}

static int write_view(const struct profile *profile, const struct report_arguments *arguments,
		      const struct waits_choice *choice, FILE *out, struct error *err)
{
	struct report_options options = table_options(arguments);
	struct waits_view view;
	int ret;

	if (options.by >= REPORT_PROCESSES)
		return report_wait_accounts(profile, &options, choice, out, err);
	ret = waits_view_open(&view, profile, choice, false);
	options.waits = &view;
	ret = ret ? error_errno(err, ret, "report") :
		    report_write(&view.profile, &options, out, err);
	waits_view_close(&view);
	return ret;
}

static int write_waits(const struct profile *profile, const struct report_arguments *arguments,
		       FILE *out, struct error *err)
{
	const struct waits_choice choice = { arguments->classes.all, arguments->classes.nr,
					     arguments->no_classes.all, arguments->no_classes.nr };

	if (!profile->waits) {
		error_set(err, -EINVAL, "--waits: the profile has no waits");
		error_hint(err, "sudo bpfprofil %s --waits %s", rows_command(profile),
			   strcmp(rows_command(profile), "run") ? "..." : "COMMAND");
		return -EINVAL;
	}
	if (check_classes(profile->waits, &arguments->classes, err))
		return -EINVAL;
	return write_view(profile, arguments, &choice, out, err);
}

static int write_annotation(const struct profile *profile, const struct report_arguments *arguments,
			    FILE *out, struct error *err)
{
	struct path_opener paths = { profile,
				     arguments->table.symfs ? arguments->table.symfs : "" };
	const struct object_opener opener = path_opener(&paths);
	const struct annotation_view view = {
		.format = arguments->table.format,
		.hot = arguments->hot,
		.limit = arguments->table.limit,
		.color = color_enabled(stdout),
		.width = table_width(stdout, arguments->wide),
	};
	const struct annotation_request request = {
		.place = arguments->annotate,
		.objects = arguments->table.objects,
		.nr_objects = arguments->table.nr_objects,
		.target = arguments->table.target,
		.opener = &opener,
		.look_in_roots = !arguments->table.symfs,
		.source = arguments->source,
		.syntax = arguments->syntax,
		.lanes = view.width && view.width < 100 ? ANNOTATION_LANES / 2 : ANNOTATION_LANES,
	};
	struct annotation *annotation;
	int ret = annotation_build(profile, &request, &annotation, err);

	if (ret)
		return ret;
	ret = annotation_write(annotation, &view, out);
	annotation_free(annotation);
	return ret ? error_errno(err, ret, "annotate") : 0;
}

/* The contents of a page. */
struct report_page {
	const struct profile *profile;
	struct html_options options;
};

static int put_page(const void *of, FILE *out, struct error *err)
{
	const struct report_page *page = of;

	return html_report(page->profile, &page->options, out, err);
}

static int write_html(const struct profile *profile, struct report_arguments *arguments)
{
	const struct report_page page = {
		.profile = profile,
		.options = { .functions = arguments->table.limit ? arguments->table.limit :
								   UINT64_MAX,
			     .inlined = arguments->table.inlined,
			     .timeline = arguments->timeline,
			     .symfs = arguments->table.symfs,
			     .source = arguments->source,
			     .syntax = arguments->syntax },
	};

	return write_page(&arguments->page, profile_is_confidential(profile), put_page, &page);
}

static int write_report(const struct profile *profile, struct report_arguments *arguments)
{
	FILE *out = pager_begin(&arguments->pager);
	struct error err = { 0 };
	int ret;

	ret = (arguments->annotate ? write_annotation :
	       arguments->waits	   ? write_waits :
				     write_ticks)(profile, arguments, out, &err);
	if (ret)
		print_error(&err);
	return pager_end(&arguments->pager, out, ret, "report: standard output");
}

/*
 * Refuses the first given option of a list, because it would have no effect with the option `with`,
 * and the user expects one.
 */
static bool takes_none(const char *with, const struct opt_given *list, const char *hint)
{
	const char *option = opt_first_given(list);

	if (option)
		print_message(hint, "report: %s: takes no %s", with, option);
	return !option;
}

static bool check_filters(const struct report_arguments *arguments)
{
	const enum report_by by = arguments->table.by;
	const struct opt_given not_of_place[] = { { "--function", arguments->table.function },
						  { "--comm", arguments->table.comm },
						  { "--by", by },
						  { 0 } };
	const struct opt_given not_by_cpu[] = {
		{ "--object", arguments->objects.nr },
		{ "--target", arguments->table.target != REPORT_ALL_TARGETS },
		{ "--comm", arguments->table.comm },
		{ 0 },
	};

	if (arguments->annotate && !takes_none("--annotate", not_of_place, "leaving it out"))
		return false;
	if (by == REPORT_CPUS && !takes_none("--by cpu", not_by_cpu, "leaving it out"))
		return false;
	if (!arguments->table.function || by == REPORT_FUNCTIONS || by == REPORT_LINES ||
	    by == REPORT_BINS)
		return true;
	return refuse("leaving one of them out", "report: --function: not with --by %s",
		      report_by_words[by]);
}

/* Accept one tree at a time, of functions only. A table cannot be cut by shares. */
static bool check_tree(const struct report_arguments *arguments)
{
	const enum report_by by = arguments->table.by;
	const struct opt_given trees[] = { { "--callers", arguments->callers },
					   { "--callees", arguments->callees },
					   { "--tree", arguments->tree },
					   { "--annotate", arguments->annotate },
					   { "--inclusive", arguments->table.inclusive },
					   { "--function", arguments->table.function },
					   { "--by",
					     by && !(arguments->callers && by == REPORT_TIME) },
					   { 0 } };
	const struct opt_given of_trees[] = { { "--min", arguments->table.min >= 0 },
					      { "--depth", arguments->table.depth },
					      { 0 } };
	const size_t at = tree_of(arguments) == TREE_ALL ? 2 : tree_of(arguments) - 1;
	const char *option = opt_first_given(of_trees);

	if (!tree_of(arguments) && option)
		return refuse("--tree", "report: %s: only with --tree, --callers or --callees",
			      option);
	if (by == REPORT_TIME && !takes_none("--by time", of_trees, "leaving it out"))
		return false;
	if (arguments->table.inclusive && (arguments->annotate || by > REPORT_LINES))
		return refuse("leaving it out",
			      "report: --inclusive: only with --by functions, objects or lines");
	return !tree_of(arguments) ||
	       takes_none(trees[at].name, &trees[at + 1], "leaving one of them out");
}

/*
 * Waits have neither instructions nor CPUs, and only sums in time. The wall time of a process and
 * the like is that of all objects.
 */
static bool check_waits(const struct report_arguments *arguments)
{
	const enum report_by by = arguments->table.by;

	if (arguments->waits && by >= REPORT_PROCESSES && by < REPORT_CPUS && arguments->objects.nr)
		return refuse("leaving it out", "report: --waits --by %s: takes no --object",
			      report_by_words[by]);
	if (!arguments->waits || !(arguments->annotate || by == REPORT_BINS || by >= REPORT_CPUS))
		return true;
	if (arguments->annotate)
		print_message("leaving one of them out", "report: --waits: takes no --annotate");
	else
		print_message("leaving one of them out", "report: --waits: not with --by %s",
			      report_by_words[by]);
	return false;
}

static bool check_arguments(const struct report_arguments *arguments)
{
	const struct opt_given of_place[] = { { "--hot", arguments->hot },
					      { "--source", arguments->source },
					      { "--syntax", arguments->syntax },
					      { 0 } };
	const char *option = opt_first_given(of_place);

	if (arguments->table.inlined &&
	    (arguments->annotate || arguments->table.by != REPORT_FUNCTIONS))
		return refuse("--by lines, which has inlined functions too",
			      "report: --inline: only with --by functions");
	if (!check_filters(arguments) || !check_tree(arguments) || !check_waits(arguments))
		return false;
	if (arguments->annotate || !option)
		return true;
	return refuse("bpfprofil report --annotate PLACE", "report: %s: only with --annotate%s",
		      option, arguments->hot ? "" : " or --html");
}

/* A page has all rows, and filters of its own. Refuse options that choose rows. */
static bool check_page(const struct report_arguments *arguments)
{
	const struct opt_given not_of_page[] = {
		{ "--annotate", arguments->annotate },
		{ "--hot", arguments->hot },
		{ "--by", arguments->table.by },
		{ "--format", arguments->table.format },
		{ "--object", arguments->objects.nr },
		{ "--comm", arguments->table.comm },
		{ "--function", arguments->table.function },
		{ "--target", arguments->table.target != REPORT_ALL_TARGETS },
		{ "--wide", arguments->wide },
		{ 0 },
	};
	const struct opt_given of_callers[] = {
		{ "--callers", arguments->callers },
		{ "--callees", arguments->callees },
		{ "--tree", arguments->tree },
		{ "--min", arguments->table.min >= 0 },
		{ "--depth", arguments->table.depth },
		{ "--inclusive", arguments->table.inclusive },
		{ "--waits, --class or --no-class", arguments->waits },
		{ 0 },
	};
	const char *option = opt_first_given(not_of_page), *why = "the page shows all";

	if (!option) {
		option = opt_first_given(of_callers);
		why = "the page has it";
	}
	if (!option)
		return true;
	return refuse("leaving it out", "report: --html: takes no %s, %s", option, why);
}

static int report(struct report_arguments *arguments, int nr, char **operands)
{
	struct report_options *table = &arguments->table;
	const bool by_time = table->by == REPORT_TIME;
	struct report_options filter;
	struct timeline timeline = { .filter = &filter };
	struct profile *profile;
	int status;

	table->objects = arguments->objects.all;
	table->nr_objects = arguments->objects.nr;
	arguments->waits |= arguments->classes.nr || arguments->no_classes.nr;
	if (!page_check("report", &arguments->page) ||
	    !(arguments->page.file ? check_page : check_arguments)(arguments))
		return EXIT_USAGE;
	filter = *table;
	filter.tree = by_time ? tree_of(arguments) : TREE_NONE;
	filter.function = filter.tree ? arguments->callers : table->function;
	if (table->limit == UINT64_MAX)
		table->limit =
			table->format == REPORT_TEXT && !by_time && table->min < 0 ? TEXT_ROWS : 0;
	if (table->symfs)
		profile_files_below(table->symfs);
	profile = profile_of_operands(&command_report, nr, operands, by_time, &timeline, &status);
	if (profile) {
		arguments->timeline = timeline.nr ? &timeline : NULL;
		status = (arguments->page.file ? write_html : write_report)(profile, arguments);
	}
	profile_free(profile);
	timeline_free(&timeline);
	return status;
}

static int run(int argc, char **argv)
{
	struct report_arguments arguments = {
		.table = { .limit = UINT64_MAX, .target = REPORT_ALL_TARGETS, .min = -1 }
	};
	int first, status;

	if (command_parse(&command_report, argc, argv, &arguments, &first, &status))
		status = report(&arguments, argc - first, argv + first);
	free(arguments.objects.all);
	free(arguments.classes.all);
	free(arguments.no_classes.all);
	return status;
}

static const struct command_example report_examples[] = {
	{ "the hottest functions of bpfprofil.json", "bpfprofil report" },
	{ "the hottest source lines of one library",
	  "bpfprofil report --by lines --object libz.so.1" },
	{ "the hottest functions, with inlined ones counted separately",
	  "bpfprofil report --inline" },
	{ "every bin of another profile, for a spreadsheet",
	  "bpfprofil report --by bins --format csv gzip.json >gzip.csv" },
	{ "the call tree, and who called memcpy",
	  "bpfprofil report --tree\n  bpfprofil report --callers memcpy" },
	{ "where it waited, without the threads that only wait for work",
	  "bpfprofil report --waits --no-class 'epoll*'" },
	{ "one function by instruction, with its source",
	  "bpfprofil report --annotate longest_match gzip.json" },
	{ "the hottest instructions of a source line's function",
	  "bpfprofil report --annotate deflate.c:402 --hot gzip.json" },
	{ "how a day went, with one row for each file of --interval",
	  "bpfprofil report --by time profiles/" },
	{ "an HTML page with a flame graph, tables and annotated machine code",
	  "bpfprofil report --html gzip.html gzip.json" },
	{ 0 },
};

const struct command command_report = {
	.name = "report",
	.summary = "show a profile as a table, as annotated machine code, or as an HTML page",
	.operands = "[FILE...]",
	.operand = VALUE_FILE,
	.description =
		"Reads the profile FILE (bpfprofil.json; - is standard input) and prints a table of "
		"the functions that used CPU time. Several files are added up, and a directory means "
		"the profiles in it.",
	.groups = report_groups,
	.examples = report_examples,
	.run = run,
};
