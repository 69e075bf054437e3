/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_OPTS_H
#define BPFPROFIL_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/output.h"

/*
 * Options as data. We do not use argp: its messages cannot have our form "bpfprofil: what: why /
 * try: ...", and it accepts abbreviations, which change their meaning when an option is added.
 */
struct command;
struct opt;

/* Stores value (NULL for a flag) in *field. On failure it fills in err with opt_bad(). */
typedef int (*opt_setter)(const struct opt *opt, const char *value, void *field, struct error *err);

/* Proposals of shells for a value. If there are words, shells propose these. */
enum opt_value {
	VALUE_ANY, /* nothing: a number, a time, or any word */
	VALUE_FILE,
	VALUE_DIR,
	VALUE_PID,
	VALUE_PIDS, /* separated by commas */
	VALUE_NAME, /* of a running process */
	VALUE_CGROUP,
	VALUE_CONTAINER,
	VALUE_UNIT,
	VALUE_USER,
	VALUE_GROUP,
	VALUE_COMMAND, /* a program and its own arguments; operands only */
	VALUE_KINDS
};

struct opt {
	const char *name; /* long name, without dashes */
	char letter; /* 0: none */
	const char *arg; /* the argument's name in --help; NULL: it is a flag */
	const char *help;
	const char *fallback; /* the default in words, or NULL */
	opt_setter set; /* NULL: opt_set_word, or without words opt_set_flag */
	/*
	 * Offset in the group's struct of the field that the setter sets: a bool for a flag, an
	 * unsigned int for words, a const char * for a string, an uint64_t for a number, a time
	 * (ns) or a size (bytes).
	 */
	size_t field;
	const char *const *words; /* for opt_set_word: the words; ends with NULL */
	const char *(*word)(size_t i); /* the same for a setter with its own list, or NULL */
	enum opt_value value;
	uint64_t min, max; /* inclusive; 0 for the max of a time or size: any */
	const char *like; /* for opt_set_time and opt_set_size: examples, such as "10, 90s or 5m" */
};

/*
 * Rows of tables, by kind of value. member is the offset of the field. The members of struct opt
 * that have no argument here may follow, as in .fallback = "60".
 */
#define OPT_FLAG(long_name, member, meaning, ...)                                                  \
	{                                                                                          \
		.name = (long_name), .field = (member), .help = (meaning), __VA_ARGS__             \
	}
#define OPT_SETTER(long_name, argument, setter, meaning, ...)                                      \
	{                                                                                          \
		.name = (long_name), .arg = (argument), .set = (setter), .help = (meaning),        \
		__VA_ARGS__                                                                        \
	}
#define OPT_WORD(long_name, member, argument, list, meaning, ...)                                  \
	OPT_FLAG(long_name, member, meaning, .arg = (argument), .words = (list), __VA_ARGS__)
#define OPT_STRING(long_name, member, argument, meaning, ...)                                      \
	OPT_SETTER(long_name, argument, opt_set_string, meaning, .field = (member), __VA_ARGS__)
#define OPT_FILE(long_name, member, meaning, ...)                                                  \
	OPT_STRING(long_name, member, "FILE", meaning, .value = VALUE_FILE, __VA_ARGS__)
#define OPT_DIR(long_name, member, meaning, ...)                                                   \
	OPT_STRING(long_name, member, "DIR", meaning, .value = VALUE_DIR, __VA_ARGS__)
#define OPT_NUMBER(long_name, member, argument, least, most, meaning, ...)                         \
	OPT_SETTER(long_name, argument, opt_set_u64, meaning, .field = (member), .min = (least),   \
		   .max = (most), __VA_ARGS__)
#define OPT_PERCENT(long_name, member, meaning, ...)                                               \
	OPT_SETTER(long_name, "PERCENT", opt_set_percent, meaning, .field = (member), __VA_ARGS__)
#define OPT_SIZE(long_name, member, least, example, meaning, ...)                                  \
	OPT_SETTER(long_name, "SIZE", opt_set_size, meaning, .field = (member), .min = (least),    \
		   .like = (example), __VA_ARGS__)
#define OPT_TIME(long_name, member, argument, least, example, meaning, ...)                        \
	OPT_SETTER(long_name, argument, opt_set_time, meaning, .field = (member), .min = (least),  \
		   .like = (example), __VA_ARGS__)

/* Options under one heading of --help, all with their fields in one struct. */
struct opt_group {
	const char *title;
	const struct opt *opts; /* ends with a NULL name */
	size_t base; /* offset of that struct in the command's options */
};

/* The options that every command has. */
struct opts_parsed {
	bool help;
	bool version;
	unsigned int color; /* enum color_when */
	int first; /* index in argv of the first operand */
};

/*
 * Fills in *options, which the caller has set to the defaults. It moves operands behind the
 * options, unless the first operand ends the command's options. It stops at --help and --version.
 * *result has the defaults too. Returns 0 or -EINVAL (-ENOMEM if a setter returns that).
 */
int opts_parse(const struct command *command, int argc, char **argv, void *options,
	       struct opts_parsed *result, struct error *err);

/* The i-th option of a command, common ones last. NULL: past the end. */
const struct opt *opts_at(const struct command *command, size_t i,
			  const struct opt_group **ret_group);

const struct opt *opts_by_letter(const struct command *command, int letter,
				 const struct opt_group **ret_group);

/* The i-th word that the value can be. NULL: past the end, or any value is valid. */
const char *opt_word(const struct opt *opt, size_t i);

/* Prints --help, wrapped to width columns. */
void opts_help(const struct command *command, FILE *out, unsigned int width);

int opt_set_string(const struct opt *opt, const char *value, void *field, struct error *err);

int opt_set_u64(const struct opt *opt, const char *value, void *field, struct error *err);

/* A double from 0 to 100. */
int opt_set_percent(const struct opt *opt, const char *value, void *field, struct error *err);

/* The smallest are 1 ns and 1 byte. */
int opt_set_time(const struct opt *opt, const char *value, void *field, struct error *err);
int opt_set_size(const struct opt *opt, const char *value, void *field, struct error *err);

/*
 * For options that have no effect together: returns the first given option of a list that ends with
 * a NULL name.
 */
struct opt_given {
	const char *name;
	bool given;
};
const char *opt_first_given(const struct opt_given *list);

/* Sets err to "--name 'value': why". Returns -EINVAL. */
int opt_bad(const struct opt *opt, const char *value, struct error *err, const char *why, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * Returns a hint with our word for a word of other tools, or NULL. We do not accept such words,
 * because each thing has one name.
 */
const char *meant_by_command(const char *typed);

/*
 * Hints at the value that the user may have meant: that of another tool, or the nearest of words,
 * which end with NULL. False: there is none.
 */
bool opt_hint_word(const struct opt *opt, const char *typed, const char *const *words,
		   struct error *err);

#endif
