/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TOP_UI_H
#define BPFPROFIL_TOP_UI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/top/key.h"
#include "host/top/list.h"
#include "host/top/model.h"
#include "host/top/page.h"

/*
 * The choices of a live view's user, and the part of the list that the screen shows. It draws
 * nothing and reads no keyboard.
 */
struct top_ui {
	struct top_choice choice;
	char filter[128]; /* UTF-8; choice.filter points to it */
	bool typing; /* the filter is being typed */
	bool frozen;
	bool help;
	size_t rows; /* rows of the table that fit the screen */
	size_t first; /* index in the list of the first row shown */
	size_t selected; /* index in the list */
	struct top_list list;
	struct top_page page;
	bool wants_page; /* show a page of the selected function; the reader of keys opens it */
	bool wants_callers; /* the same with its callers */
	bool wants_waits; /* show a page of all waits */
	bool wants_file; /* save all counts in a file; the reader of keys writes it */
	char message[512]; /* shown in place of the keys until the next key */
};

void top_ui_init(struct top_ui *ui, enum top_by by);
void top_ui_free(struct top_ui *ui);

/* Handles a key. Returns true if the user wants to quit. */
bool top_ui_key(struct top_ui *ui, uint32_t key);

/* The selected row, or NULL. It belongs to the model and is valid until its next interval. */
const struct top_row *top_ui_row(const struct top_ui *ui);

/*
 * Updates the list. Call it after a key, an interval or a resize. If the selected row is not the
 * first, the selection follows the row. Returns 0 or -ENOMEM.
 */
int top_ui_update(struct top_ui *ui, const struct top_model *model, size_t rows);

#endif
