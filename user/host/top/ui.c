// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/top/ui.h"

#include <string.h>

void top_ui_init(struct top_ui *ui, enum top_by by)
{
	*ui = (struct top_ui){ .choice = { .by = by, .idle = true } };
	ui->choice.filter = ui->filter;
}

void top_ui_free(struct top_ui *ui)
{
	top_list_free(&ui->list);
	top_page_close(&ui->page);
}

const struct top_row *top_ui_row(const struct top_ui *ui)
{
	return ui->selected < ui->list.nr ? ui->list.rows[ui->selected] : NULL;
}

static size_t encode(uint32_t code, char bytes[4])
{
	if (code < 0x80) {
		bytes[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		bytes[0] = (char)(0xc0 | code >> 6);
		bytes[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		bytes[0] = (char)(0xe0 | code >> 12);
		bytes[1] = (char)(0x80 | (code >> 6 & 0x3f));
		bytes[2] = (char)(0x80 | (code & 0x3f));
		return 3;
	}
	bytes[0] = (char)(0xf0 | code >> 18);
	bytes[1] = (char)(0x80 | (code >> 12 & 0x3f));
	bytes[2] = (char)(0x80 | (code >> 6 & 0x3f));
	bytes[3] = (char)(0x80 | (code & 0x3f));
	return 4;
}

static void type(struct top_ui *ui, uint32_t code)
{
	size_t length = strlen(ui->filter), more;
	char bytes[4];

	more = encode(code, bytes);
	if (length + more >= sizeof(ui->filter))
		return;
	memcpy(ui->filter + length, bytes, more);
	ui->filter[length + more] = '\0';
}

static void untype(struct top_ui *ui)
{
	size_t length = strlen(ui->filter);

	while (length && (ui->filter[--length] & 0xc0) == 0x80)
		;
	ui->filter[length] = '\0';
}

enum { CTRL_H = 8, CTRL_L = 12, CTRL_U = 21 };

static void filter_key(struct top_ui *ui, uint32_t key)
{
	if (key == TOP_KEY_ENTER) {
		ui->typing = false;
	} else if (key == TOP_KEY_ESCAPE) {
		ui->typing = false;
		ui->filter[0] = '\0';
	} else if (key == TOP_KEY_BACKSPACE || key == CTRL_H) {
		untype(ui);
	} else if (key == CTRL_U) {
		ui->filter[0] = '\0';
	} else if (key >= ' ' && key < TOP_KEY_UP) {
		type(ui, key);
	}
}

/* Moves the selection, perhaps beyond the ends of the list; top_ui_update() corrects that. */
static void move(struct top_ui *ui, uint32_t key)
{
	ui->selected = top_moved(ui->selected, key, ui->rows ? ui->rows : 1,
				 ui->list.nr ? ui->list.nr - 1 : 0);
}

static void choose_view(struct top_ui *ui, enum top_by by)
{
	ui->choice.by = by;
	if (!top_has_inclusive(&ui->choice) && ui->choice.sort == TOP_SORT_INCLUSIVE)
		ui->choice.sort = TOP_SORT_NOW;
	ui->selected = ui->first = 0;
	ui->list.nr = 0;
}

static bool view_key(struct top_ui *ui, uint32_t key)
{
	static const char letters[] = "fopcn", digits[] = "12345";
	const char *at;

	if (key == '\t')
		choose_view(ui, (ui->choice.by + 1) % TOP_BYS);
	else if (key == TOP_KEY_BACK_TAB)
		choose_view(ui, (ui->choice.by + TOP_BYS - 1) % TOP_BYS);
	else if (key && key < 0x80 && (at = strchr(letters, (int)key)))
		choose_view(ui, (enum top_by)(at - letters));
	else if (key && key < 0x80 && (at = strchr(digits, (int)key)))
		choose_view(ui, (enum top_by)(at - digits));
	else
		return false;
	return true;
}

static void sort_by_next(struct top_choice *choice)
{
	choice->sort = (choice->sort + 1) % TOP_SORTS;
	if (!top_has_inclusive(choice) && choice->sort == TOP_SORT_INCLUSIVE)
		choice->sort = TOP_SORT_PLACE;
	if (!top_has_place(choice->by) && choice->sort == TOP_SORT_PLACE)
		choice->sort = TOP_SORT_NAME;
}

bool top_ui_key(struct top_ui *ui, uint32_t key)
{
	ui->message[0] = '\0';
	if (ui->help) {
		ui->help = false;
	} else if (ui->page.text) {
		top_page_key(&ui->page, key);
	} else if (ui->typing) {
		filter_key(ui, key);
	} else if (key == 'q' || key == 'Q' || key == TOP_KEY_QUIT) {
		return true;
	} else if (key == 'h' || key == '?' || key == TOP_KEY_HELP) {
		ui->help = true;
	} else if (key == '/') {
		ui->typing = true;
	} else if (key == TOP_KEY_ESCAPE) {
		ui->filter[0] = '\0';
	} else if (key == ' ') {
		ui->frozen = !ui->frozen;
	} else if (key == TOP_KEY_ENTER || key == 'a') {
		ui->wants_page = ui->choice.by == TOP_FUNCTIONS && top_ui_row(ui);
	} else if (key == 'C') {
		ui->wants_callers = ui->choice.by == TOP_FUNCTIONS && top_ui_row(ui);
	} else if (key == 'W') {
		ui->wants_waits = true;
	} else if (key == 'w') {
		ui->wants_file = true;
	} else if (key == 's') {
		sort_by_next(&ui->choice);
	} else if (!view_key(ui, key)) {
		move(ui, key);
	}
	return false;
}

/*
 * Finds the selected row in the new list. It compares only the pointer, because the row may be
 * freed.
 */
static void find_again(struct top_ui *ui, const struct top_row *row)
{
	size_t i;

	for (i = 0; row && ui->selected && i < ui->list.nr; i++) {
		if (ui->list.rows[i] == row)
			ui->selected = i;
	}
	if (ui->selected >= ui->list.nr)
		ui->selected = ui->list.nr ? ui->list.nr - 1 : 0;
}

static void scroll(struct top_ui *ui)
{
	size_t rows = ui->rows ? ui->rows : 1;

	if (ui->selected < ui->first)
		ui->first = ui->selected;
	if (ui->selected >= ui->first + rows)
		ui->first = ui->selected - rows + 1;
	if (ui->first + rows > ui->list.nr)
		ui->first = ui->list.nr > rows ? ui->list.nr - rows : 0;
}

int top_ui_update(struct top_ui *ui, const struct top_model *model, size_t rows)
{
	const struct top_row *row = top_ui_row(ui);
	int ret = top_list_choose(&ui->list, model, &ui->choice);

	if (ret)
		return ret;
	ui->rows = rows;
	find_again(ui, row);
	scroll(ui);
	return 0;
}
