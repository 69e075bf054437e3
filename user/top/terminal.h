/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TOP_TERMINAL_H
#define BPFPROFIL_TOP_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

/*
 * A terminal with a cursor, by ncurses: of a picture only what has changed is sent, so that nothing
 * flickers. One at a time.
 */
struct terminal;

/* type is TERM's value. -ENOTTY: nobody knows it, or its cursor cannot be moved. */
int terminal_open(const char *type, FILE *out, FILE *in, bool color, struct terminal **ret,
		  struct error *err);

/* Gives the terminal back as it was; NULL is fine. */
void terminal_close(struct terminal *terminal);

/* After SIGWINCH. */
void terminal_resized(struct terminal *terminal);
void terminal_size(const struct terminal *terminal, size_t *rows, size_t *columns);

/* A key of ui.h; false: none is waiting. */
bool terminal_key(struct terminal *terminal, uint32_t *ret);

/* Shows a picture of lines with styles. */
void terminal_show(struct terminal *terminal, const char *picture);

#endif
