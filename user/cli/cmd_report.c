// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <stdlib.h>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/profile_file.h"
#include "report/report.h"

#define TEXT_ROWS 40

struct report_arguments {
	unsigned int by; /* enum report_by */
	unsigned int format; /* enum report_format */
	uint64_t limit;
	const char *object;
	uint64_t target;
};

static const char *const format_words[] = { "text", "csv", "json", NULL };

#define FIELD(member) offsetof(struct report_arguments, member)

static const struct opt report_opts[] = {
	{ .name = "by",
	  .arg = "functions|objects|lines|bins|process|cgroup",
	  .help = "a row for each of these; lines need the binaries with their debug information, "
		  "process and cgroup a profile that was split",
	  .fallback = "functions",
	  .set = opt_set_word,
	  .words = report_by_words,
	  .field = FIELD(by) },
	{ .name = "format",
	  .arg = "text|csv|json",
	  .help = "how to write the rows",
	  .fallback = "text",
	  .set = opt_set_word,
	  .words = format_words,
	  .field = FIELD(format) },
	{ .name = "limit",
	  .arg = "N",
	  .help = "the N hottest rows; 0 is all of them",
	  .fallback = "40 as text, else all",
	  .set = opt_set_u64,
	  .max = UINT32_MAX,
	  .field = FIELD(limit) },
	{ 0 }
};

static const struct opt filter_opts[] = {
	{ .name = "object",
	  .arg = "NAME",
	  .help = "only this program or library, by its path or the last component of it",
	  .fallback = "all",
	  .set = opt_set_string,
	  .field = FIELD(object) },
	{ .name = "target",
	  .arg = "ID",
	  .help = "only this target; shares are then of its ticks",
	  .fallback = "all",
	  .set = opt_set_u64,
	  .max = UINT32_MAX,
	  .field = FIELD(target) },
	{ 0 }
};

static const struct opt_group report_groups[] = {
	{ .title = "Table", .opts = report_opts },
	{ .title = "Filters", .opts = filter_opts },
	{ 0 },
};

static int write_report(const struct profile *profile, const struct report_arguments *arguments)
{
	const struct report_options options = {
		.by = arguments->by,
		.format = arguments->format,
		.limit = arguments->limit,
		.object = arguments->object,
		.target = arguments->target,
		.color = color_enabled(stdout),
		.width = terminal_width(stdout),
	};
	struct error err = { 0 };

	result_begin();
	if (report_write(profile, &options, stdout, &err)) {
		print_command_error("report", &err);
		return EXIT_FAILURE;
	}
	return result_end(stdout, "report: standard output");
}

static int run(int argc, char **argv)
{
	struct report_arguments arguments = { .limit = UINT64_MAX, .target = REPORT_ALL_TARGETS };
	struct profile *profile;
	int first, status;

	if (!command_parse(&command_report, argc, argv, &arguments, &first, &status))
		return status;
	if (arguments.limit == UINT64_MAX)
		arguments.limit = arguments.format == REPORT_TEXT ? TEXT_ROWS : 0;
	profile = profile_of_operand(&command_report, argc - first, argv + first, &status);
	if (!profile)
		return status;
	status = write_report(profile, &arguments);
	profile_free(profile);
	return status;
}

static const struct command_example report_examples[] = {
	{ "the hottest functions of bpfprofil.json", "bpfprofil report" },
	{ "the hottest source lines of one library",
	  "bpfprofil report --by lines --object libz.so.1" },
	{ "every bin of another profile, for a spreadsheet",
	  "bpfprofil report --by bins --format csv gzip.json >gzip.csv" },
	{ 0 },
};

const struct command command_report = {
	.name = "report",
	.summary = "show a profile as a table",
	.operands = "[FILE]",
	.description = "Reads the profile FILE (bpfprofil.json; - is standard input) and shows "
		       "what became of its ticks and where they fell.",
	.groups = report_groups,
	.examples = report_examples,
	.run = run,
};
