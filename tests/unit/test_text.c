// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "base/text.h"

#include <criterion/criterion.h>

#include "base/util.h"
#include <locale.h>
#include <stdlib.h>

typedef size_t (*writer)(FILE *out, const char *text, size_t width);

static void check(writer write, const char *text, size_t width, const char *want, size_t columns)
{
	cleanup_free char *got = NULL;
	size_t size, used;
	FILE *out = open_memstream(&got, &size);

	used = write(out, text, width);
	fclose(out);
	cr_assert_str_eq(got, want);
	cr_assert_eq(used, columns, "%s: %zu", want, used);
}

static void in_utf8(void)
{
	cr_assert(setlocale(LC_CTYPE, "C.UTF-8"));
}

TestSuite(text, .init = in_utf8);

Test(text, plain)
{
	check(text_write, "", 0, "", 0);
	check(text_write, "main", 0, "main", 4);
	check(text_write, "n\xc3\xa4me", 0, "n\xc3\xa4me", 4);
}

/* What a terminal would obey must not reach it. */
Test(text, control_characters)
{
	check(text_write, "a\x1b[31m\n\x7f", 0, "a\\x1b[31m\\x0a\\x7f", 17);
	check(text_write, "\xc2\x9b", 0, "\\xc2\\x9b", 8); /* CSI as one character */
	check(text_write, "\xff\xc3(", 0, "\\xff\\xc3(", 9);
	check(text_write, "\xe2\x80\xae", 0, "\\xe2\\x80\\xae", 12); /* right to left */
	check(text_write, "\xe2\x80\xa8", 0, "\\xe2\\x80\\xa8", 12); /* end of a line */
	check(text_write, "\xe2\x82", 0, "\\xe2\\x82", 8); /* cut off */
}

Test(text, cut)
{
	check(text_write, "abcdef", 6, "abcdef", 6);
	check(text_write, "abcdef", 5, "abcd\u2026", 5);
	check(text_write, "abcdef", 1, "\u2026", 1);
	check(text_write, "a\xc3\xa4\xc3\xa4\xc3\xa4", 3, "a\xc3\xa4\u2026", 3);
	/* An escape is left out as a whole. */
	check(text_write, "ab\nc", 5, "ab\u2026", 3);
}

Test(text, cut_at_the_start)
{
	check(text_write_tail, "abcdef", 6, "abcdef", 6);
	check(text_write_tail, "abcdef", 0, "abcdef", 6);
	check(text_write_tail, "/long/way/file.c:12", 10, "\u2026file.c:12", 10);
	check(text_write_tail, "\xc3\xa4\xc3\xa4\xc3\xa4z", 3, "\u2026\xc3\xa4z", 3);
}

Test(text, wide_characters)
{
	check(text_write, "\u6f22\u5b57", 0, "\u6f22\u5b57", 4);
	check(text_write, "\u6f22\u5b57\u6f22", 5, "\u6f22\u5b57\u2026", 5);
	check(text_write, "\u6f22\u5b57\u6f22", 4, "\u6f22\u2026", 3);
}

/* The characters that we draw with fit the locale; names are not changed. */
Test(text, without_utf8)
{
	cr_expect_str_eq(text_glyph("█"), "█");
	setlocale(LC_CTYPE, "C");
	cr_expect_str_eq(text_glyph("█"), "#");
	cr_expect_str_eq(text_glyph("╭"), "/");
	cr_expect_str_eq(text_glyph("▶"), ">");
	cr_expect_str_eq(text_glyph(" "), " ");
	check(text_write, "abcdef", 5, "abcd~", 5);
	check(text_write_tail, "/long/way/file.c:12", 10, "~file.c:12", 10);
	check(text_write, "n\xc3\xa4me", 0, "n\xc3\xa4me", 4);
}

Test(text, basename)
{
	cr_assert_str_eq(text_basename("/usr/lib/libz.so.1"), "libz.so.1");
	cr_assert_str_eq(text_basename("[kernel]"), "[kernel]");
	cr_assert_str_eq(text_basename("/"), "/");
	cr_assert_str_eq(text_basename(""), "");
}

/* Different names stay different, whole characters stay whole, and nothing is longer than a backend takes. */
Test(text, labels)
{
	char name[4096], other[4096], first[TEXT_LABEL], second[TEXT_LABEL];
	size_t i;

	cr_expect_str_eq(text_label("short", first), "short");
	for (i = 0; i + 2 < sizeof(name); i += 2)
		memcpy(name + i, "\u00e4", 2);
	name[4000] = '\0';
	strcpy(other, name);
	other[3998] = 'x';
	name[TEXT_LABEL - 1] = '\0';
	cr_expect_eq(text_label(name, first), name);
	name[TEXT_LABEL - 1] = '\xc3';
	cr_expect_eq(text_label(name, first), first);
	cr_expect_eq(text_label(other, second), second);
	cr_expect_lt(strlen(first), TEXT_LABEL);
	cr_expect_gt(strlen(first), TEXT_LABEL - 8);
	cr_expect_str_neq(first, second);
	for (i = 0; first[i] && first[i] != '.'; i += 2)
		cr_expect_eq(memcmp(first + i, "\u00e4", 2), 0);
}
