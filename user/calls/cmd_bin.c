// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls/region_table.h"
#include "calls/call_options.h"
#include "option/command.h"
#include "report/profile_file.h"
#include "base/output.h"

static const struct opt counter_opts[] = {
	OPT_WORD("width", offsetof(struct call_options, width_word), "2|4|8", call_widths,
		 "bytes of a counter", .fallback = "2"),
	{ 0 }
};

static const struct opt_group bin_groups[] = {
	{ .title = "Call", .opts = call_opts },
	{ .title = "Counters", .opts = counter_opts },
	{ 0 },
};

struct bin {
	struct region_call call;
	struct region_table table;
};

static int bad_pc(const char *where, const char *word, int status)
{
	print_message(NULL, "bin: %s'%.64s': not a pc: must be a number of at most 64 bits", where,
		      word);
	return status;
}

/* Each word of the line is a pc. */
static int print_line(const struct bin *bin, char *line)
{
	char *word, *rest;
	uint64_t pc;

	for (word = strtok_r(line, " \t\r\n", &rest); word;
	     word = strtok_r(NULL, " \t\r\n", &rest)) {
		if (call_number_parse(word, &pc))
			return bad_pc("standard input: ", word, EXIT_FAILURE);
		bin_text_print(stdout, &bin->call, &bin->table, pc);
	}
	return EXIT_SUCCESS;
}

static int print_stdin(const struct bin *bin)
{
	int status = EXIT_SUCCESS;
	size_t capacity = 0;
	char *line = NULL;
	ssize_t length;

	while (status == EXIT_SUCCESS && !ferror(stdout) &&
	       (length = getline(&line, &capacity, stdin)) >= 0) {
		if (strlen(line) == (size_t)length) {
			status = print_line(bin, line);
		} else {
			print_message(NULL, "bin: standard input: not a text");
			status = EXIT_FAILURE;
		}
	}
	if (ferror(stdout)) {
		putchar('\n'); /* stdio forgot why it failed: stdout_end() fails again, and reports */
	} else if (status == EXIT_SUCCESS && !feof(stdin)) {
		print_message(NULL, "bin: standard input: %s", strerror(errno));
		status = EXIT_FAILURE;
	}
	free(line);
	return status;
}

static int print_pcs(const struct bin *bin, int nr, char **words)
{
	uint64_t pc;
	int i;

	if (nr == 1 && !strcmp(words[0], "-"))
		return print_stdin(bin);
	for (i = 0; i < nr; i++)
		if (call_number_parse(words[i], &pc))
			return bad_pc("", words[i], EXIT_USAGE);
	for (i = 0; i < nr; i++) {
		call_number_parse(words[i], &pc);
		bin_text_print(stdout, &bin->call, &bin->table, pc);
	}
	return EXIT_SUCCESS;
}

static int run_call(const struct call_options *options, int nr, char **words)
{
	struct call_entry entry;
	struct error err = { 0 };
	struct bin bin;
	int status, code;

	if (call_options_call(options, &entry, &bin.call, &err)) {
		print_error(&err);
		return EXIT_USAGE;
	}
	if (!nr)
		return usage_error("- to read pcs from standard input", "bin: no pc given");
	code = region_table_compile(&bin.call, &bin.table);
	if (code)
		return failure(NULL, "bin: regions: %s", strerror(-code));
	stdout_begin();
	status = print_pcs(&bin, nr, words);
	region_table_free(&bin.table);
	code = stdout_end("bin: standard output");
	return status ?: code;
}

static int run(int argc, char **argv)
{
	struct call_options options;
	int first, status;

	call_options_init(&options);
	if (command_parse(&command_bin, argc, argv, &options, &first, &status))
		status = run_call(&options, argc - first, argv + first);
	call_options_free(&options);
	return status;
}

static const struct command_example bin_examples[] = {
	{ "which counter, and which pcs share it",
	  "bpfprofil bin --dialect bsd44 --offset 0x401000 --scale 0x4000 --size 512 0x401234" },
	{ "two regions and an overflow bin",
	  "bpfprofil bin --region 0x401000:65536:64 --region 0x7000:65536:64 --region 0:2:2 0x7002" },
	{ "the pcs of a file", "bpfprofil bin --offset 0 --scale 32768 --size 65536 - <pcs.txt" },
	{ 0 },
};

const struct command command_bin = {
	.name = "bin",
	.summary = "show which counter of profil() or sprofil() a pc falls into",
	.operands = "PC...",
	.description =
		"Shows the arithmetic of profil() and sprofil() in a dialect. Prints one line per PC: "
		"'PC BIN LOW HIGH', where the pcs LOW to HIGH share the counter. Outside the buffer it "
		"prints 'PC below', 'PC beyond' or 'PC off'. With regions it prints 'PC REGION BIN LOW "
		"HIGH', 'PC overflow' or 'PC outside'. Numbers may be decimal, hexadecimal (0x) or octal (0). - reads PCs "
		"from standard input.",
	.groups = bin_groups,
	.examples = bin_examples,
	.run = run,
};
