/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TOP_TERMINAL_H
#define BPFPROFIL_TOP_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

/*
 * A terminal with a cursor, through ncurses, which only sends what has changed, so that nothing
 * flickers. Only one can be open at a time.
 */
struct terminal;

/* type is TERM's value. -ENOTTY: it is unknown, or its cursor cannot be moved. */
int terminal_open(const char *type, FILE *out, FILE *in, bool color, struct terminal **result,
		  struct error *err);

/* Restores the terminal's state; NULL is fine. */
void terminal_close(struct terminal *terminal);

/* Call after SIGWINCH. */
void terminal_resized(struct terminal *terminal);
void terminal_size(const struct terminal *terminal, size_t *rows, size_t *columns);

/* A key as in ui.h; false: none is waiting. */
bool terminal_key(struct terminal *terminal, uint32_t *result);

/* Shows lines with styles. */
void terminal_show(struct terminal *terminal, const char *picture);

#endif
