// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <stdlib.h>

#include "base/file.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/profile_file.h"
#include "profile/profile_io.h"
#include "profile/profile_merge.h"

struct merge_arguments {
	const char *output;
};

static const struct opt merge_opts[] = { { .name = "output",
					   .letter = 'o',
					   .arg = "FILE",
					   .value = VALUE_FILE,
					   .help = "where the sum goes; - is stdout, .gz compresses",
					   .set = opt_set_string,
					   .field = offsetof(struct merge_arguments, output) },
					 { 0 } };

static const struct opt_group merge_groups[] = {
	{ .title = "Sum", .opts = merge_opts },
	{ 0 },
};

static int add_files(struct profile_merger *merger, int nr, char **files, struct error *err)
{
	struct profile *part;
	int i, code = 0;

	for (i = 0; i < nr && !code; i++) {
		code = profile_load(files[i], &part, err);
		if (!code)
			code = profile_merger_add(merger, part, files[i], err);
	}
	return code;
}

static int write_sum(const struct profile *sum, const char *path, struct error *err)
{
	struct output *out;
	int code = output_open(path, &out, err);

	if (code)
		return code;
	code = profile_write(sum, output_stream(out), err);
	return output_finish(out, code, err);
}

static int merge(const char *output, int nr, char **files, struct error *err)
{
	struct profile_merger merger = { 0 };
	struct profile *sum = NULL;
	/* First: a thousand files are not read to find that the sum has no place. */
	int code = output_check(output, err);

	if (!code)
		code = add_files(&merger, nr, files, err);
	if (!code)
		code = profile_merger_finish(&merger, &sum, err);
	if (!code)
		code = write_sum(sum, output, err);
	profile_free(sum);
	profile_merger_free(&merger);
	return code;
}

static int run(int argc, char **argv)
{
	struct merge_arguments arguments = { 0 };
	struct error err = { 0 };
	int first, status, code;

	if (!command_parse(&command_merge, argc, argv, &arguments, &first, &status))
		return status;
	if (first == argc) {
		print_message("bpfprofil merge --help", "merge: no FILE given");
		return EXIT_USAGE;
	}
	if (!arguments.output) {
		print_message("-o sum.json", "merge: --output: not given");
		return EXIT_USAGE;
	}
	result_begin();
	code = merge(arguments.output, argc - first, argv + first, &err);
	/* The reader of a pipe has left: it knows. */
	if (code && code != -EPIPE)
		print_command_error("merge", &err);
	return code ? EXIT_FAILURE : EXIT_SUCCESS;
}

static const struct command_example merge_examples[] = {
	{ "the runs of a day as one profile",
	  "bpfprofil merge -o day.json.gz profile-*.json && bpfprofil report day.json.gz" },
	{ "what a fleet of hosts does, host by host and together",
	  "bpfprofil merge -o fleet.json host1.json host2.json host3.json" },
	{ 0 },
};

const struct command command_merge = {
	.name = "merge",
	.summary = "add profiles up",
	.operands = "FILE... -o FILE",
	.operand = VALUE_FILE,
	.description = "Reads the profiles FILE (- is standard input) and writes their sum, which "
		       "is the same in whatever order they come.",
	.groups = merge_groups,
	.examples = merge_examples,
	.run = run,
};
