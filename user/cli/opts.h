/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_OPTS_H
#define BPFPROFIL_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "record/output.h"

/*
 * Options as data. argp was considered: its messages cannot take the fixed form
 * "bpfprofil: what: why / try: ...", and it accepts abbreviations, which change their meaning
 * when an option is added.
 */
struct command;
struct opt;

/* Stores value (NULL for a flag) in *field. On failure fills err by opt_bad(). */
typedef int (*opt_setter)(const struct opt *opt, const char *value, void *field, struct error *err);

/* What shells propose for a value; where there are words, these. */
enum opt_value {
	VALUE_ANY, /* nothing: a number, a time, a word of the user's own */
	VALUE_FILE,
	VALUE_DIR,
	VALUE_PID,
	VALUE_PIDS, /* with commas between them */
	VALUE_NAME, /* of a process that runs */
	VALUE_CGROUP,
	VALUE_CONTAINER,
	VALUE_UNIT,
	VALUE_USER,
	VALUE_GROUP,
	VALUE_COMMAND, /* a program, and behind it what that proposes itself; operands only */
	VALUE_KINDS
};

struct opt {
	const char *name; /* long name, without dashes */
	char letter; /* 0: none */
	const char *arg; /* the argument's name in --help; NULL: a flag */
	const char *help;
	const char *fallback; /* the default in words, or NULL */
	opt_setter set;
	size_t field; /* offset of *field in the group's struct */
	const char *const *words; /* opt_set_word: the words, ends with NULL */
	const char *(*word)(size_t i); /* the same of a setter with a list of its own, or NULL */
	enum opt_value value;
	uint64_t min, max; /* opt_set_u64: inclusive */
};

/* A run of options under one heading of --help, all with their fields in one struct. */
struct opt_group {
	const char *title;
	const struct opt *opts; /* ends with a NULL name */
	size_t base; /* offset of that struct in the command's options */
};

/* What every command understands. */
struct opts_parsed {
	bool help;
	bool version;
	unsigned int color; /* enum color_when */
	int first; /* the first operand in argv */
};

/*
 * Fills *options, which the caller has set to the defaults. Operands are moved behind the options
 * unless the command ends them at its first. Parsing stops at --help and --version. 0 or -EINVAL
 * (-ENOMEM when a setter says so).
 */
int opts_parse(const struct command *command, int argc, char **argv, void *options,
	       struct opts_parsed *ret, struct error *err);

/* The i-th option of a command, the common ones last; NULL past the end. */
const struct opt *opts_at(const struct command *command, size_t i,
			  const struct opt_group **ret_group);

const struct opt *opts_by_letter(const struct command *command, int letter,
				 const struct opt_group **ret_group);

/* The i-th word that its value may be; NULL past the end, or when any may. */
const char *opt_word(const struct opt *opt, size_t i);

/* --help, wrapped to width columns. */
void opts_help(const struct command *command, FILE *out, unsigned int width);

int opt_set_flag(const struct opt *opt, const char *value, void *field, struct error *err);
int opt_set_string(const struct opt *opt, const char *value, void *field, struct error *err);
/* field: unsigned int, the index of the word */
int opt_set_word(const struct opt *opt, const char *value, void *field, struct error *err);
int opt_set_u64(const struct opt *opt, const char *value, void *field, struct error *err);

/* "--name 'value': why". Returns -EINVAL. */
int opt_bad(const struct opt *opt, const char *value, struct error *err, const char *why, ...)
	__attribute__((format(printf, 4, 5)));

#endif
