/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_OUTPUT_H
#define BPFPROFIL_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

/*
 * Everything the command line says goes through here, so that a message has one form:
 *
 *     bpfprofil: TEXT
 *     try: HINT
 */
void print_error(const struct error *err);

/* The same from a format; hint may be NULL. */
void print_message(const char *hint, const char *format, ...) __attribute__((format(printf, 2, 3)));

enum color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* --color; command_parse() sets it. */
void color_set(enum color_when when);

/* Colour on this stream? auto: on a terminal that has colours, and never with NO_COLOR. */
bool color_enabled(FILE *stream);

bool terminal_attached(FILE *stream);

/* Columns of the stream's terminal, 0 when it is none. */
unsigned int terminal_width(FILE *stream);

/* Columns for the rows of a table; wide: 0, nothing is cut. */
unsigned int table_width(FILE *stream, bool wide);

/* Before the first byte of a result: a reader that leaves (head) must not kill us half-way. */
void stdout_begin(void);

/*
 * After the last byte: flushes. Returns the exit status, EXIT_FAILURE with a message when bytes
 * were lost, without one when the reader had left.
 */
int stdout_end(const char *name);

#endif
