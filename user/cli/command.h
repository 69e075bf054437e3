/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_COMMAND_H
#define BPFPROFIL_COMMAND_H

#include <stdbool.h>

#include "cli/opts.h"

/* What the user typed is wrong; a failure is EXIT_FAILURE. */
#define EXIT_USAGE 2

struct command_example {
	const char *what; /* what the line does */
	const char *line; /* what to type */
};

/*
 * A subcommand as data: dispatch, usage errors, --help and completions all read it, so that none
 * of them can know an option the others do not.
 */
struct command {
	const char *name;
	const char *summary; /* its line in bpfprofil --help; no full stop */
	const char *operands; /* what follows [OPTIONS] in the usage line */
	const char *description; /* sentences for its own --help */
	const struct opt_group *groups; /* ends with a NULL title; may be NULL */
	const struct command_example *examples; /* ends with a NULL line */
	void (*more_help)(FILE *out); /* more paragraphs for --help, or NULL */
	enum opt_value operand; /* what they are */
	const char *const *operand_words; /* instead of it: the only ones there are */
	/* The first operand ends the options: what follows belongs to COMMAND. */
	bool operands_end_options;
	/* argv[0] is the command's name. Returns the exit status. */
	int (*run)(int argc, char **argv);
};

/* In the order of bpfprofil --help; ends with NULL. */
extern const struct command *const commands[];

/* NULL: there is none of that name. */
const struct command *command_find(const char *name);

extern const struct command command_run;
extern const struct command command_attach;
extern const struct command command_top;
extern const struct command command_report;
extern const struct command command_export;
extern const struct command command_diff;
extern const struct command command_merge;
extern const struct command command_bin;
extern const struct command command_agent;
extern const struct command command_serve;
extern const struct command command_bench;
extern const struct command command_doctor;
extern const struct command command_completion;

/*
 * Parses a command's options into *options. True: go on, with the operands from argv[*ret_first].
 * False: --help or --version was answered or an error printed; exit with *ret_status.
 */
bool command_parse(const struct command *command, int argc, char **argv, void *options,
		   int *ret_first, int *ret_status);

/* The version, the libbpf it runs with and the kernel it sees, on stdout. Returns the status. */
int command_print_version(void);

/* --help of one command on stdout. Returns the exit status. */
int command_print_help(const struct command *command);

/* What can stand at the end of a line of these words, for shells. Returns the exit status. */
int command_complete(int nr, char **words);

#endif
