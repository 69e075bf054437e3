// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/top/page.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "host/top/ui.h"

void top_page_open(struct top_page *page, char *text, char *hot_text)
{
	top_page_close(page);
	page->text = text;
	page->hot_text = hot_text;
}

void top_page_close(struct top_page *page)
{
	free(page->text);
	free(page->hot_text);
	*page = (struct top_page){ .rows = page->rows };
}

static const char *shown(const struct top_page *page)
{
	return page->hot && page->hot_text ? page->hot_text : page->text;
}

static size_t count_lines(const char *text)
{
	size_t nr = 0;

	for (; (text = strchr(text, '\n')); text++)
		nr++;
	return nr;
}

static void move(struct top_page *page, uint32_t key)
{
	size_t nr = count_lines(shown(page)), rows = page->rows ? page->rows : 1;
	size_t last = nr > rows ? nr - rows : 0;

	if (key == TOP_KEY_UP || key == 'k')
		page->first -= page->first > 0;
	else if (key == TOP_KEY_DOWN || key == 'j')
		page->first++;
	else if (key == TOP_KEY_PAGE_UP)
		page->first -= page->first < rows ? page->first : rows;
	else if (key == TOP_KEY_PAGE_DOWN || key == ' ')
		page->first += rows;
	else if (key == TOP_KEY_HOME)
		page->first = 0;
	else if (key == TOP_KEY_END)
		page->first = last;
	if (page->first > last)
		page->first = last;
}

void top_page_key(struct top_page *page, uint32_t key)
{
	if (key == 'q' || key == 'Q' || key == TOP_KEY_ESCAPE || key == TOP_KEY_QUIT) {
		top_page_close(page);
	} else if (key == 'H') {
		page->hot = !page->hot;
		page->first = 0;
	} else {
		move(page, key);
	}
}

/* The style for a colour of report/render.h; text is the part between the escape and the m. */
static enum top_style style_of(const char *text, size_t length)
{
	static const struct {
		const char *code;
		enum top_style style;
	} styles[] = { { "1;31", TOP_HOT },
		       { "32", TOP_WARM },
		       { "2", TOP_DIM },
		       { "1", TOP_BOLD } };
	size_t i;

	for (i = 0; i < sizeof(styles) / sizeof(styles[0]); i++)
		if (strlen(styles[i].code) == length && !strncmp(text, styles[i].code, length))
			return styles[i].style;
	return TOP_PLAIN;
}

/* Names are escaped, so an escape character always begins a colour. */
static void put_line(struct top_line *line, const char *at, const char *end)
{
	const char *stop;

	while (at < end) {
		cleanup_free char *part = NULL;

		if (end - at > 2 && at[0] == '\033' && at[1] == '[') {
			stop = memchr(at, 'm', (size_t)(end - at));
			if (!stop)
				break;
			line_style(line, style_of(at + 2, (size_t)(stop - at - 2)));
			at = stop + 1;
			continue;
		}
		stop = memchr(at, '\033', (size_t)(end - at));
		stop = stop ? stop : end;
		part = strndup(at, (size_t)(stop - at));
		line_text(line, part ? part : "");
		at = stop;
	}
	line_end(line);
}

void top_page_draw(const struct top_page *page, struct top_line *line, size_t rows)
{
	const char *at = shown(page), *end;
	size_t i;

	for (i = 0; i < page->first; i++) {
		end = strchrnul(at, '\n');
		at = *end ? end + 1 : end;
	}
	for (i = 0; i < rows; i++) {
		end = strchrnul(at, '\n');
		put_line(line, at, end);
		at = *end ? end + 1 : end;
	}
}
