// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <criterion/criterion.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "sample.h"
#include "test_annotate_fixture.h"
#include "test_symbol_fixture.h"

static void *need(void *pointer)
{
	cr_assert(pointer);
	return pointer;
}

static void begin(void)
{
	cr_assert(setlocale(LC_CTYPE, "C.UTF-8"));
	fixture_begin();
}

TestSuite(annotate_text, .init = begin, .fini = fixture_end);

/* clang-format off */
static const char golden[] =
	"  SHARE     TICKS  LINE\n"
	" 93.46%       300  f.s:9  jne 1b\n"
	"  6.23%        20  f.s:7  addl $1, %eax\n"
	"  0.31%         1  f.s:5  xorl %eax, %eax\n"
	"\n"
	"  SHARE     TICKS             ADDRESS  INSTRUCTION\n"
	"  0.31%         1             f.s:5  xorl %eax, %eax\n"
	"  0.31%         1 ▏              1000  xorl %eax, %eax\n"
	"                              f.s:6  nop\n"
	"                                 1002  nop\n"
	"  6.23%        20             f.s:7  addl $1, %eax\n"
	"  6.23%        20 ▌        ╭▶    1003  addl $1, %eax\n"
	"                           │  f.s:8  cmpl %edi, %eax\n"
	"                           │     1006  cmpl %edi, %eax\n"
	" 93.46%       300          │  f.s:9  jne 1b\n"
	" 93.46%       300 ████████ ╰─    1008  jne 0x1003\n"
	"                              f.s:10  call g\n"
	"                                 100a  callq 0x1010 <g>\n"
	"                              f.s:11  ret\n"
	"                                 100f  retq\n";
/* clang-format on */

static struct annotation *build_example(struct profile **result)
{
	annotate_program("-g");
	fixture_shell("sed -i 's/1:/  /' f.s && touch -r program f.s");
	*result = PROFILE(1, { 0, 1 }, { 3, 20 }, { 8, 300 }, { 16, 5 });
	return annotate(*result, "f");
}

Test(annotate_text, table)
{
	cleanup_profile struct profile *profile = NULL;
	struct annotation *annotation = build_example(&profile);
	char *text = annotate_write(annotation, &(struct annotation_view){ 0 }), *table;

	table = need(strstr(text, "\n\n")) + 2;
	cr_expect_str_eq(table, golden);
	cr_expect(strstr(
		text, "ticks     321 of 326, 98.47% of the time; shares below are of the 321\n"));
	free(text);
	annotation_free(annotation);
}

Test(annotate_text, hot)
{
	static const char *const order[] = {
		"\n\n  SHARE     TICKS          ADDRESS  INSTRUCTION\n",
		"93.46%       300 ████████    1008  jne 0x1003", "addl $1, %eax", "xorl %eax", NULL
	};
	cleanup_profile struct profile *profile = NULL;
	struct annotation *annotation = build_example(&profile);
	char *text = annotate_write(annotation, &(struct annotation_view){ .hot = true }),
	     *at = text;
	size_t i;

	for (i = 0; order[i]; i++)
		at = need(strstr(at, order[i]));
	cr_expect_null(strstr(text, "callq"));
	free(text);
	annotation_free(annotation);
}

/* The others are counted and not forgotten. */
Test(annotate_text, limit)
{
	cleanup_profile struct profile *profile = NULL;
	struct annotation *annotation;
	char *text;

	fixture_write("f.s", ".text\n.globl f\n.type f, @function\n"
			     "f: .rept 100\nnop\n.endr\nret\n.size f, . - f\n");
	annotate_assemble("-g");
	profile = PROFILE(1, { 10, 3 }, { 50, 40 });
	annotation = annotate(profile, "f");
	text = annotate_write(annotation, &(struct annotation_view){ .limit = 1 });
	cr_expect(strstr(text, "  6.98%         3  ⋮ 46 instructions\n"), "%s", text);
	cr_expect(strstr(text, "\n9 of 101 instructions; --limit 0 shows all.\n"), "%s", text);
	free(text);
	text = annotate_write(annotation,
			      &(struct annotation_view){ .format = REPORT_CSV, .limit = 1 });
	cr_expect(strstr(text, "\n40,93.0233,93.0233,1,"), "%s", text);
	cr_expect_eq(strchr(strchr(text, '\n') + 1, '\n')[1], '\0');
	free(text);
	annotation_free(annotation);
}

static void check_width(const struct annotation *annotation, unsigned int width, bool hot)
{
	const struct annotation_view view = { .width = width, .hot = hot };
	char *text = annotate_write(annotation, &view), *line;

	line = strtok(need(strstr(text, "\n\n")), "\n");
	for (; line; line = strtok(NULL, "\n"))
		cr_expect_leq(text_columns(line), width, "%u columns: %s", width, line);
	free(text);
}

Test(annotate_text, fits_the_terminal)
{
	cleanup_profile struct profile *profile = NULL;
	struct annotation *annotation;
	unsigned int width;

	annotate_program("-g");
	fixture_shell("mv f.s a_name_that_is_longer_than_most_names_are.s && "
		      "clang --target=x86_64-linux-gnu -c -g -o f.o "
		      "a_name_that_is_longer_than_most_names_are.s && "
		      "x86_64-linux-gnu-ld -shared -Ttext=0x1000 --build-id -o program f.o");
	profile = PROFILE(1, { 0, 1 }, { 3, 20 }, { 10, 300 });
	annotation = annotate(profile, "f");
	for (width = 72; width <= 140; width++) {
		check_width(annotation, width, false);
		check_width(annotation, width, true);
	}
	annotation_free(annotation);
}

/* Names, sources and operands come from files that anybody may have written. */
Test(annotate_text, hostile_names)
{
	static const enum report_format formats[] = { REPORT_TEXT, REPORT_CSV, REPORT_JSON };
	cleanup_profile struct profile *profile = NULL;
	struct annotation *annotation;
	size_t i;
	char *text;

	annotate_program("-g");
	fixture_shell("sed -i '7s/.*/\\x1b]0;title\\x07\\xff/' f.s && touch -r program f.s");
	profile = PROFILE(1, { 3, 20 });
	free(profile->functions[0].name);
	profile->functions[0].name = need(strdup("f\033[2J\nf"));
	annotation = annotate(profile, "f\033[2J\nf");
	for (i = 0; i < 3; i++) {
		text = annotate_write(annotation,
				      &(struct annotation_view){ .format = formats[i] });
		cr_expect_null(strchr(text, '\033'), "format %zu", i);
		cr_expect_null(strchr(text, '\a'), "format %zu", i);
		cr_expect_null(strstr(text, "[2J\n"), "format %zu", i);
		cr_expect_null(strchr(text, '\xff'), "format %zu", i);
		free(text);
	}
	annotation_free(annotation);
}

Test(annotate_text, colour)
{
	cleanup_profile struct profile *profile = NULL;
	struct annotation *annotation = build_example(&profile);
	char *text = annotate_write(annotation, &(struct annotation_view){ .color = true });

	cr_expect(strstr(text, "\033[1;31m 93.46%\033[0m"));
	free(text);
	annotation_free(annotation);
}

/* If there is no room for both, shares are more useful than ticks. */
Test(annotate_text, narrow)
{
	cleanup_profile struct profile *profile = NULL;
	struct annotation *annotation = build_example(&profile);
	char *text = annotate_write(annotation, &(struct annotation_view){ .width = 44 });

	cr_expect(strstr(text, "  SHARE  LINE\n 93.46%  f.s:9"), "%s", text);
	cr_expect(strstr(text, "jne 0x1003\n"), "%s", text);
	free(text);
	annotation_free(annotation);
}

/* A C++ name of hundreds of characters does not fill the screen above its code. */
Test(annotate_text, long_name)
{
	cleanup_profile struct profile *profile = NULL;
	struct annotation *annotation;
	char *text;

	annotate_program("-g");
	profile = PROFILE(1, { 3, 20 });
	free(profile->functions[0].name);
	profile->functions[0].name = strdup("ns::Table<std::pair<int, long>, Hash>::find(int)");
	annotation = annotate(profile, "find");
	text = annotate_write(annotation, &(struct annotation_view){ .width = 40 });
	cr_expect(strstr(text, "function  ns::Table<\u2026>::find(int)\n"), "%s", text);
	free(text);
	text = annotate_write(annotation, &(struct annotation_view){ .width = 0 });
	cr_expect(strstr(text, "function  ns::Table<std::pair<int, long>, Hash>::find(int)\n"),
		  "%s", text);
	free(text);
	annotation_free(annotation);
}
