/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TOP_PAGE_H
#define BPFPROFIL_TOP_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "host/top/line.h"
#include "host/top/model.h"
#include "profile/profile.h"
#include "naming/functions.h"

/* Text that covers the table: an annotated function in text order, or hottest first. */
struct top_page {
	char *text; /* NULL: there is no page */
	const char *hot_text; /* behind the end of text; or NULL */
	bool hot;
	size_t first; /* the first line that is shown */
	size_t rows; /* of the screen */
};

/*
 * Becomes the owner of the text, which may contain a terminal's colours. size is without the last
 * '\0'. If it has two texts, separated by another one, the second is hottest first.
 */
void top_page_open(struct top_page *page, char *text, size_t size);
void top_page_close(struct top_page *page);

/* q and Esc close the page. */
void top_page_key(struct top_page *page, uint32_t key);

/* Draws at most rows lines. */
void top_page_draw(const struct top_page *page, struct top_line *line, size_t rows);

struct top_annotate_options {
	const struct profile *last; /* of the opener; a copy from JSON, whose paths are UTF-8 */
	const struct object_opener *opener;
	bool color;
	unsigned int width;
};

/*
 * Writes the instructions of a row's function with its ticks in the sum of all intervals, as report
 * writes them, as two texts for top_page_open(). -ENOENT: the object had no tick in the last
 * profile, and therefore its file cannot be opened; or the sum no longer has the function.
 */
int top_annotate(const struct profile *sum, const struct top_row *row,
		 const struct top_annotate_options *options, FILE *out, struct error *err);

#endif
