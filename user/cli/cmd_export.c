// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <stdlib.h>

#include "base/file.h"
#include "cli/command.h"
#include "cli/nearest.h"
#include "cli/output.h"
#include "cli/profile_file.h"
#include "export/export.h"
#include "profile/profile_io.h"

#define FORMATS_MAX 32

struct export_arguments {
	const struct export_format *format;
	const char *output;
	bool schema;
};

static int set_format(const struct opt *opt, const char *value, void *field, struct error *err)
{
	const char *words[FORMATS_MAX + 1] = { 0 }, *nearest;
	const struct export_format **format = field;
	size_t i;

	*format = export_find(value);
	if (*format)
		return 0;
	for (i = 0; i < FORMATS_MAX && export_formats[i].name; i++)
		words[i] = export_formats[i].name;
	opt_bad(opt, value, err, "no such format");
	nearest = nearest_word(value, words);
	if (nearest)
		error_hint(err, "--%s %s", opt->name, nearest);
	else
		error_hint(err, "bpfprofil export --help");
	return -EINVAL;
}

#define FIELD(member) offsetof(struct export_arguments, member)

static const struct opt export_opts[] = {
	{ .name = "format",
	  .arg = "FORMAT",
	  .help = "what to write; the formats are listed below",
	  .set = set_format,
	  .field = FIELD(format) },
	{ .name = "output",
	  .letter = 'o',
	  .arg = "FILE",
	  .help = "where to write it; - is stdout, .gz compresses",
	  .fallback = "-",
	  .set = opt_set_string,
	  .field = FIELD(output) },
	{ .name = "schema",
	  .help = "write the JSON Schema of profiles instead; no profile is read",
	  .set = opt_set_flag,
	  .field = FIELD(schema) },
	{ 0 }
};

static const struct opt_group export_groups[] = {
	{ .title = "Conversion", .opts = export_opts },
	{ 0 },
};

static void list_formats(FILE *out)
{
	const struct export_format *format;

	fprintf(out, "\nFormats:\n");
	for (format = export_formats; format->name; format++)
		fprintf(out, "  %-24s  %s\n", format->name, format->description);
}

/* Writes a profile, or without one the schema. */
static int write_output(const struct export_arguments *arguments, const struct profile *profile)
{
	struct error err = { 0 };
	struct output *out;
	int result;

	result_begin();
	result = output_open(arguments->output, &out, &err);
	if (!result) {
		if (profile)
			result = arguments->format->write(profile, output_stream(out), &err);
		else
			fputs(profile_schema, output_stream(out));
		result = output_finish(out, result, &err);
	}
	if (!result)
		return EXIT_SUCCESS;
	/* The reader of a pipe has left: it knows. */
	if (result != -EPIPE)
		print_command_error("export", &err);
	return EXIT_FAILURE;
}

static int run(int argc, char **argv)
{
	struct export_arguments arguments = { .output = "-" };
	struct profile *profile;
	int first, status;

	if (!command_parse(&command_export, argc, argv, &arguments, &first, &status))
		return status;
	if (arguments.schema && (arguments.format || first < argc)) {
		print_message("bpfprofil export --schema",
			      "export: --schema: takes neither a FILE nor a --format");
		return EXIT_USAGE;
	}
	if (arguments.schema)
		return write_output(&arguments, NULL);
	if (!arguments.format) {
		print_message("--format json", "export: --format: not given");
		return EXIT_USAGE;
	}
	profile = profile_of_operand(&command_export, argc - first, argv + first, &status);
	if (!profile)
		return status;
	status = write_output(&arguments, profile);
	profile_free(profile);
	return status;
}

static const struct command_example export_examples[] = {
	{ "every bin as a line of a table", "bpfprofil export --format csv -o profile.csv" },
	{ "a compressed copy of a profile",
	  "bpfprofil export --format json -o gzip.json.gz gzip.json" },
	{ "what a profile looks like to a program", "bpfprofil export --schema" },
	{ 0 },
};

const struct command command_export = {
	.name = "export",
	.summary = "convert a profile to another format",
	.operands = "[FILE] --format FORMAT",
	.description = "Reads the profile FILE (bpfprofil.json; - is standard input) and writes "
		       "it in another format.",
	.groups = export_groups,
	.examples = export_examples,
	.more_help = list_formats,
	.run = run,
};
