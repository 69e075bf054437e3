/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_OUTPUT_H
#define BPFPROFIL_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

/*
 * All messages of the command line have one form:
 *
 *     bpfprofil: COMMAND: TEXT
 *     try: HINT
 */
void print_error(const struct error *err);

/* Does the same with a format; hint may be NULL. */
void print_message(const char *hint, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Messages name this command from here on. The name must outlive them. */
void print_as(const char *command);

enum color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* Sets --color; command_parse() calls it. */
void color_choose(enum color_when when);

/*
 * Whether to use colour on this stream. COLOR_AUTO: on a terminal with colours, unless NO_COLOR is
 * set.
 */
bool color_enabled(FILE *stream);

bool terminal_attached(FILE *stream);

/* Columns of the stream's terminal; 0: it is not a terminal. */
unsigned int terminal_width(FILE *stream);

/* Columns for the rows of a table. wide: 0, so that nothing is cut. */
unsigned int table_width(FILE *stream, bool wide);

/*
 * Call it before the first byte of a result: ignores SIGPIPE, so that a reader that leaves early
 * (head) does not kill us half-way.
 */
void stdout_begin(void);

/*
 * Call it after the last byte: flushes. Returns the exit status. EXIT_FAILURE: bytes were lost, and
 * a message was printed unless the reader had left.
 */
int stdout_end(const char *name);

#endif
