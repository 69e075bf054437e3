/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_OUTPUT_H
#define BPFPROFIL_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

/*
 * Everything that the command line says goes through here, so that all messages have one form:
 *
 *     bpfprofil: COMMAND: TEXT
 *     try: HINT
 */
void print_error(const struct error *err);

/* The same for a format; hint may be NULL. */
void print_message(const char *hint, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* From here on messages name this command; the name must outlive that. */
void print_as(const char *command);

enum color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* Sets --color; command_parse() calls it. */
void color_choose(enum color_when when);

/*
 * Whether to use colour on this stream. auto: on a terminal that has colours, and never with
 * NO_COLOR.
 */
bool color_enabled(FILE *stream);

bool terminal_attached(FILE *stream);

/* Columns of the stream's terminal; 0: it is not a terminal. */
unsigned int terminal_width(FILE *stream);

/* Columns for the rows of a table. With wide it is 0 and nothing is cut. */
unsigned int table_width(FILE *stream, bool wide);

/*
 * Call before the first byte of a result: ignores SIGPIPE, so that a reader that leaves early
 * (head) does not kill us half-way.
 */
void stdout_begin(void);

/*
 * Call after the last byte: flushes. Returns the exit status, which is EXIT_FAILURE if bytes were
 * lost: with a message, unless the reader had left.
 */
int stdout_end(const char *name);

#endif
