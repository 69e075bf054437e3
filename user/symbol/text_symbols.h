/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TEXT_SYMBOLS_H
#define BPFPROFIL_TEXT_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "symbol/symbol.h"

/* Parses symbol lists that are text, with one symbol a line. The parsers take any bytes. */
/* Also parses a dump, see symbol/jit_dump.h. */
int perf_map_parse(const char *text, size_t size, struct symbol_table **result, struct error *err);
int kallsyms_parse(const char *text, size_t size, struct symbol_table **result, struct error *err);

/* A line, or what is left of it. */
struct text_cursor {
	const char *at;
	const char *end;
};

bool text_next_line(struct text_cursor *text, struct text_cursor *line);
/* and the blanks after it */

/*
 * Parses START SIZE NAME, with numbers in hexadecimal and NAME to the end of the line. False: not
 * such a line.
 */
struct symbol_spec;
bool perf_map_line(struct text_cursor *line, struct symbol_spec *spec);

#endif
