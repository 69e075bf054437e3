/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_COMMAND_H
#define BPFPROFIL_COMMAND_H

#include <stdbool.h>

#include "option/opts.h"

/* Exit status for wrong usage; other failures are EXIT_FAILURE. */
#define EXIT_USAGE 2

/* Like print_message(), with a result for the caller to return. */
#define usage_error(...) (print_message(__VA_ARGS__), EXIT_USAGE)
#define failure(...) (print_message(__VA_ARGS__), EXIT_FAILURE)
#define refuse(...) (print_message(__VA_ARGS__), false)

struct command_example {
	const char *what; /* what the command line does */
	const char *line; /* what to type */
};

/*
 * A subcommand as data. Dispatch, usage errors, --help and completion all read this table and
 * therefore know the same options.
 */
struct command {
	const char *name;
	const char *summary; /* the line in bpfprofil --help, without a full stop */
	const char *operands; /* what follows [OPTIONS] in the usage line */
	const char *description; /* sentences for the command's own --help */
	const struct opt_group *groups; /* ends with a NULL title; may be NULL */
	const struct command_example *examples; /* ends with a NULL line */
	void (*more_help)(FILE *out); /* writes more paragraphs for --help; or NULL */
	enum opt_value operand; /* kind of the operands, for completion */
	const char *const *operand_words; /* instead: all words that an operand can be */
	/* The first operand ends the options; what follows belongs to COMMAND. */
	bool operands_end_options;
	/* Its options are in a unit or a file. Therefore it reads none from the environment. */
	bool is_service;
	/* argv[0] is the command's name. Returns the exit status. */
	int (*run)(int argc, char **argv);
};

/* In the order of bpfprofil --help; ends with NULL. */
extern const struct command *const commands[];

/* NULL: there is no command of that name. */
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
extern const struct command command_doctor;
extern const struct command command_completion;

/*
 * Parses a command's options into *options: first those of the environment variable
 * BPFPROFIL_COMMAND, for instance BPFPROFIL_RUN, and then those of the command line. Returns true
 * to continue with the operands from argv[*ret_first] on. Returns false if it has answered --help
 * or --version or has printed an error; then exit with *ret_status.
 */
bool command_parse(const struct command *command, int argc, char **argv, void *options,
		   int *ret_first, int *ret_status);

/*
 * Prints the version, the libbpf in use and the kernel that it sees. Returns the exit status.
 * main() sets this, because this layer does not know libbpf.
 */
extern int (*command_print_version)(void);

/* Prints the --help of one command. Returns the exit status. */
int command_print_help(const struct command *command);

/* Prints, for shells, all completions of the last of these words. Returns the exit status. */
int command_complete(int nr, char **words);

#endif
