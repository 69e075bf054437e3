/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TOP_PAGE_H
#define BPFPROFIL_TOP_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/top/line.h"

/* Text on top of the table: an annotated function in text order, or hottest first. */
struct top_page {
	char *text; /* NULL: there is no page */
	char *hot_text; /* or NULL */
	bool hot;
	size_t first; /* the first line that is shown */
	size_t rows; /* of the screen */
};

/* Takes over the texts, which may contain a terminal's colours. */
void top_page_open(struct top_page *page, char *text, char *hot_text);
void top_page_close(struct top_page *page);

/* q and Esc close the page. */
void top_page_key(struct top_page *page, uint32_t key);

/* Draws at most rows lines. */
void top_page_draw(const struct top_page *page, struct top_line *line, size_t rows);

#endif
