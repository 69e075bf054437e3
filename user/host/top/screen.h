/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TOP_SCREEN_H
#define BPFPROFIL_TOP_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "base/error.h"
#include "host/top/list.h"
#include "host/top/model.h"
#include "host/top/ui.h"

/* Draws the model as lines with styles (line.h). */
struct top_screen {
	const char *title; /* what is profiled */
	bool processes, cgroups; /* the profiles distinguish them */
	size_t rows;
	size_t columns;
};

/* How many rows of a table fit the screen, besides its other lines. */
size_t top_screen_rows(const struct top_screen *screen, const struct top_model *model);

/* How many lines of a page fit the screen. */
size_t top_screen_page_rows(const struct top_screen *screen);

/* Draws at most as many lines as the screen has rows. No line is wider than the screen. */
void top_screen_draw(const struct top_screen *screen, const struct top_model *model,
		     const struct top_ui *ui, FILE *out);

/* Output without a screen: tables one after the other. */
struct top_plain {
	struct top_choice choice;
	size_t limit; /* rows of a table; 0: all */
	size_t width; /* columns of its rows; 0: unlimited */
	struct top_list list;
};

/*
 * Prints the last interval, which ended at that time. Returns 0 or -ENOMEM; out keeps other errors.
 */
int top_plain_interval(struct top_plain *plain, const struct top_model *model, time_t at,
		       FILE *out);

/* Prints the sum of all intervals, and the account. Returns 0 or -ENOMEM. */
int top_plain_overall(struct top_plain *plain, const struct top_model *model, FILE *out);

void top_plain_free(struct top_plain *plain);

/*
 * A terminal with a cursor, through ncurses. ncurses sends only changes, and therefore nothing
 * flickers. Only one terminal can be open at a time.
 */
struct terminal;

/*
 * type is the value of TERM. -ENOTTY: the type is unknown, or such a terminal cannot move its
 * cursor.
 */
int terminal_open(const char *type, FILE *out, FILE *in, bool color, struct terminal **result,
		  struct error *err);

/* Restores the terminal's state. terminal may be NULL. */
void terminal_close(struct terminal *terminal);

/* Call this after SIGWINCH. */
void terminal_resized(struct terminal *terminal);
void terminal_size(const struct terminal *terminal, size_t *rows, size_t *columns);

/* Reads a key as in ui.h. Returns false if no key is waiting. */
bool terminal_key(struct terminal *terminal, uint32_t *result);

/* Shows lines with styles. */
void terminal_show(struct terminal *terminal, const char *picture);

#endif
