// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/top/line.h"

#include <stdarg.h>
#include <string.h>

#include "report/name_fit.h"
#include "base/text.h"

#define WORDS_BYTES 512 /* the longest line */

/* Sets *result to the number of columns that are left. Returns false if there are none. */
static bool room(const struct top_line *line, size_t *result)
{
	*result = line->width ? line->width - line->used : 0;
	return !line->width || *result;
}

void line_style(struct top_line *line, enum top_style style)
{
	if (line->styled)
		fputc((int)style, line->out);
}

void line_text(struct top_line *line, const char *text)
{
	size_t left;

	if (room(line, &left))
		line->used += text_write(line->out, text, left);
}

void line_name(struct top_line *line, const char *name)
{
	size_t left;

	if (room(line, &left))
		line->used += name_write(line->out, name, left);
}

void line_words(struct top_line *line, const char *text, size_t length)
{
	char words[WORDS_BYTES];

	snprintf(words, sizeof(words), "%.*s", (int)length, text);
	line_text(line, words);
}

void line_column(struct top_line *line, const char *text, size_t columns)
{
	size_t left, end = line->used + columns;

	if (!room(line, &left))
		return;
	if (left && columns > left)
		columns = left;
	line->used += text_write_tail(line->out, text, line->width ? columns : 0);
	line_blank(line, end);
}

void line_print(struct top_line *line, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	line_text(line, text);
}

bool line_has_room(const struct top_line *line, size_t columns)
{
	return !line->width || line->used + columns <= line->width;
}

size_t line_fit(const char *text, size_t width)
{
	size_t fits = 0, end = strcspn(text, " ");
	char words[WORDS_BYTES];

	for (;; end += 1 + strcspn(text + end + 1, " ")) {
		if (end >= sizeof(words))
			break;
		memcpy(words, text, end);
		words[end] = '\0';
		if (text_columns(words) > width)
			break;
		fits = end;
		if (!text[end])
			return end;
	}
	return fits ? fits : strlen(text);
}

void line_blank(struct top_line *line, size_t column)
{
	if (line->width && column > line->width)
		column = line->width;
	for (; line->used < column; line->used++)
		fputc(' ', line->out);
}

void line_end(struct top_line *line)
{
	line_style(line, TOP_PLAIN);
	fputc('\n', line->out);
	line->used = 0;
}
