// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "base/text.h"

#include <inttypes.h>
#include <langinfo.h>
#include <stdint.h>
#include <string.h>
#include <wchar.h>

#include "base/util.h"

/*
 * Finds the next unit to print: a character, or an escape. Sets its length in bytes, and returns
 * its columns. wcwidth() depends on the locale; for unknown characters, 1 is assumed.
 */
static size_t unit(const char *text, size_t *ret_length, bool *ret_escape)
{
	size_t length = utf8_sequence(text, strnlen(text, 4));
	uint32_t code;
	int columns;

	*ret_escape = true;
	*ret_length = length ? length : 1;
	if (!length)
		return 4;
	if (utf8_is_control(text, length))
		return 4 * length;
	code = utf8_code_point(text, length);
	*ret_escape = false;
	columns = code < 0x80 ? 1 : wcwidth((wchar_t)code);
	return columns < 0 ? 1 : (size_t)columns;
}

/* Lines and corners as objdump draws them. */
static const struct {
	const char *glyph, *ascii;
} plain[] = {
	{ "\u2026", "~" }, { "│", "|" }, { "─", "-" }, { "╰", "\\" }, { "╭", "/" }, { "├", "+" },
	{ "┴", "+" },	   { "┬", "+" }, { "┼", "+" }, { "┐", "\\" }, { "┘", "/" }, { "▶", ">" },
	{ "↑", "^" },	   { "↓", "v" }, { "▼", "v" }, { "⋮", ":" },  { "▏", "." }, { "▎", "." },
	{ "▍", "." },	   { "▌", "=" }, { "▋", "=" }, { "▊", "=" },  { "▉", "#" }, { "█", "#" },
};

static bool ascii_only;

void text_draw_ascii(void)
{
	ascii_only = true;
}

const char *text_glyph(const char *glyph)
{
	size_t i;

	if ((unsigned char)*glyph < 0x80 || (!ascii_only && !strcmp(nl_langinfo(CODESET), "UTF-8")))
		return glyph;
	for (i = 0; i < sizeof(plain) / sizeof(*plain); i++)
		if (!strcmp(plain[i].glyph, glyph))
			return plain[i].ascii;
	return "?";
}

size_t text_columns(const char *text)
{
	size_t columns = 0, length;
	bool escape;

	for (; *text; text += length)
		columns += unit(text, &length, &escape);
	return columns;
}

bool text_is_plain(const char *text)
{
	size_t length;
	bool escape = false;

	for (; *text && !escape; text += length)
		unit(text, &length, &escape);
	return !escape;
}

/* Writes as many whole units as fit, and returns their columns. */
static size_t write_units(FILE *out, const char *text, size_t room)
{
	size_t columns = 0, length, next, i;
	bool escape;

	for (; *text; text += length) {
		next = unit(text, &length, &escape);
		if (next > room - columns)
			break;
		columns += next;
		if (!escape) {
			fwrite(text, 1, length, out);
			continue;
		}
		for (i = 0; i < length; i++)
			fprintf(out, "\\x%02x", (unsigned char)text[i]);
	}
	return columns;
}

size_t text_write(FILE *out, const char *text, size_t width)
{
	size_t columns;

	if (!width || text_columns(text) <= width)
		return write_units(out, text, SIZE_MAX);
	columns = write_units(out, text, width - 1);
	fputs(text_glyph("\u2026"), out);
	return columns + 1;
}

size_t text_write_tail(FILE *out, const char *text, size_t width)
{
	size_t columns = text_columns(text), length;
	bool escape;

	if (!width || columns <= width)
		return text_write(out, text, 0);
	for (; columns > width - 1; text += length)
		columns -= unit(text, &length, &escape);
	fputs(text_glyph("\u2026"), out);
	return 1 + text_write(out, text, 0);
}

size_t text_write_ends(FILE *out, const char *text, size_t width)
{
	size_t columns;

	if (!width || text_columns(text) <= width)
		return write_units(out, text, SIZE_MAX);
	columns = write_units(out, text, (width - 1) / 3);
	return columns + text_write_tail(out, text, width - columns);
}

size_t text_put_character(FILE *out, const char *text)
{
	size_t length = utf8_sequence(text, strnlen(text, 4)), i;

	if (!length)
		fputs(UTF8_REPLACEMENT, out);
	else if (!utf8_is_control(text, length))
		fwrite(text, 1, length, out);
	else
		for (i = 0; i < length; i++)
			fprintf(out, "\\x%02x", (unsigned char)text[i]);
	return length ? length : 1;
}

void text_csv(FILE *out, const char *text)
{
	const char *quote = text && text[strcspn(text, ",\"")] ? "\"" : "";

	fputs(quote, out);
	if (text && *text && strchr("=+-@", *text))
		fputc('\'', out);
	while (text && *text) {
		if (*text == '"')
			fputc('"', out);
		text += text_put_character(out, text);
	}
	fputs(quote, out);
}

void text_labelled(FILE *out, const char *label, const char *text)
{
	fprintf(out, "%-10s", label);
	text_write(out, text, 0);
	fputc('\n', out);
}

const char *text_label(const char *text, char ret[TEXT_LABEL])
{
	static const int more = sizeof("...0123456789abcdef") - 1;
	size_t length = strlen(text);
	int cut = TEXT_LABEL - 1 - more;

	if (length < TEXT_LABEL)
		return text;
	/*
	 * Do not cut within a character: in UTF-8, all bytes after its first one begin with the
	 * bits 10.
	 */
	while (cut && ((unsigned char)text[cut] & 0xc0) == 0x80)
		cut--;
	snprintf(ret, TEXT_LABEL, "%.*s...%016" PRIx64, cut, text,
		 hash_bytes(HASH_BEGIN, text, length));
	return ret;
}

bool text_ends_in(const char *text, const char *end)
{
	size_t length = strlen(text), part = strlen(end);

	return length > part && !strcmp(text + length - part, end);
}

const char *text_basename(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}
