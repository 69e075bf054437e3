// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/top/screen.h"

#include <criterion/criterion.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "base/text.h"
#include "profile/profile_io.h"
#include "sample.h"
#include "host/top/line.h"

static struct top_model model;
static struct top_ui ui;
static struct top_screen screen;
static char *picture;
static size_t picture_size;

static void add(struct profile *profile)
{
	cr_assert_eq(top_model_add(&model, profile), 0);
	profile_free(profile);
}

static void setup(void)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	top_model_init(&model);
	top_ui_init(&ui, TOP_FUNCTIONS);
	screen = (struct top_screen){ .title = "pid 7", .processes = true };
}

static void teardown(void)
{
	free(picture);
	top_ui_free(&ui);
	top_model_free(&model);
}

TestSuite(top_screen, .init = setup, .fini = teardown);

static void draw(size_t rows, size_t columns)
{
	FILE *out;

	free(picture);
	out = open_memstream(&picture, &picture_size);
	screen.rows = rows;
	screen.columns = columns;
	cr_assert_eq(top_ui_update(&ui, &model, top_screen_rows(&screen, &model)), 0);
	top_screen_draw(&screen, &model, &ui, out);
	cr_assert_eq(fclose(out), 0);
}

/* A line of the screen without its styles. */
static const char *line(size_t nr)
{
	static char text[4096];
	const char *at = picture;
	size_t length = 0;

	for (; nr; nr--)
		at = strchr(at, '\n') + 1;
	for (; *at != '\n'; at++)
		if ((unsigned char)*at >= TOP_STYLES)
			text[length++] = *at;
	while (length && text[length - 1] == ' ')
		length--;
	text[length] = '\0';
	return text;
}

static size_t lines(void)
{
	size_t nr = 0;
	char *at;

	for (at = picture; (at = strchr(at, '\n')); at++)
		nr++;
	return nr;
}

static void press(const char *keys)
{
	for (; *keys; keys++)
		cr_assert_not(top_ui_key(&ui, (unsigned char)*keys));
}

/* clang-format off */
static void sample(void)
{
	add(INTERVAL(0, { "/bin/gzip", "deflate", 0x10, 7, "gzip", NULL, 300 },
			{ "/bin/gzip", "longest_match", 0x20, 7, "gzip", NULL, 600 },
			{ "/lib/libc.so.6", "memcpy", 0x30, 8, "cat", NULL, 100 }));
	add(INTERVAL(10, { "/bin/gzip", "deflate", 0x10, 7, "gzip", NULL, 390 },
			 { "/bin/gzip", "longest_match", 0x20, 7, "gzip", NULL, 600 }));
}
/* clang-format on */

Test(top_screen, functions)
{
	sample();
	draw(24, 80);
	cr_assert_eq(lines(), 24);
	cr_assert_str_eq(line(0), "bpfprofil top  pid 7");
	cr_assert_str_eq(line(1), "now  1000 ticks in 1.000 s, 1.00 of 2 CPUs (50.0 %), 10 lost");
	cr_assert_str_eq(line(2), "all  2000 ticks in 2.000 s, 1.00 of 2 CPUs (50.0 %), 10 lost");
	cr_assert_str_eq(line(3), "     = 1990 binned + 10 lost (exit 10)");
	cr_assert_str_eq(line(5), "   NOW\u25bc     ALL     TICKS  OBJECT     FUNCTION");
	cr_assert_str_eq(line(6), " 60.00%  60.00%       600  gzip       longest_match");
	cr_assert_str_eq(line(7), " 39.00%  34.50%       390  gzip       deflate");
	cr_assert_str_eq(line(8), "  0.00%   5.00%         0  libc.so.6  memcpy");
	cr_assert_str_eq(line(9), "");
}

/* A narrow screen shows names first. */
Test(top_screen, narrow)
{
	sample();
	draw(20, 44);
	cr_assert_str_eq(line(5), "   NOW\u25bc     ALL  OBJECT     FUNCTION");
	cr_assert_str_eq(line(6), " 60.00%  60.00%  gzip       longest_match");
	cr_assert_str_eq(line(8), "  0.00%   5.00%  libc.so.6  memcpy");
}

/* A name that does not fit loses what says least. */
Test(top_screen, long_names)
{
	add(INTERVAL(0, { "/bin/w", "ns::Table<std::pair<int, long>, Hash>::find(Key const&) const",
			  0x10, 7, "w", NULL, 300 }));
	draw(20, 100);
	cr_expect_str_eq(line(6), "100.00% 100.00%       300  w        "
				  "ns::Table<std::pair<int, long>, Hash>::find(Key const&) const");
	draw(20, 80);
	cr_expect_str_eq(line(6), "100.00% 100.00%       300  w        "
				  "ns::Table<\u2026>::find(Key const&) const");
	draw(20, 44);
	cr_expect_str_eq(line(6), "100.00% 100.00%  w        ns::T\u2026ind(\u2026) const");
}

Test(top_screen, views)
{
	sample();
	press("o");
	draw(24, 80);
	cr_assert_str_eq(line(6), " 99.00%  94.50%       990  file     /bin/gzip");
	press("\t");
	draw(24, 80);
	cr_assert_str_eq(line(5), "   NOW\u25bc     ALL     TICKS  PID      PROCESS");
	cr_assert_str_eq(line(6), " 99.00%  94.50%       990  7        gzip");
	press("4");
	draw(24, 80);
	cr_assert_str_eq(line(6), "Control groups are not separated: start top with --by cgroups.");
	screen.cgroups = true;
	screen.processes = false;
	draw(24, 80);
	cr_assert_str_eq(line(6), " 99.00%  99.50%       990  -");
	cr_assert_not(top_ui_key(&ui, TOP_KEY_BACK_TAB));
	draw(24, 80);
	cr_assert_str_eq(line(6), "Processes are not separated: start top with --split process.");
	press("n");
	draw(24, 80);
	cr_assert_str_eq(line(6), "Processes are not separated: start top with --split process.");
	screen.processes = true;
	draw(24, 80);
	cr_assert_str_eq(line(5), "   NOW\u25bc     ALL     TICKS  COMM");
	cr_assert_str_eq(line(6), " 99.00%  94.50%       990  gzip");
}

/* The one that is shown is there even if not all are. */
Test(top_screen, views_without_room)
{
	sample();
	press("f");
	draw(20, 44);
	cr_expect_str_eq(line(4), " Functions   Objects   Processes   Cgroups");
	press("n");
	draw(20, 44);
	cr_expect_str_eq(line(4), " Objects   Processes   Cgroups   Comm");
}

Test(top_screen, threads)
{
	sample();
	ui.choice.threads = true;
	press("p");
	draw(24, 80);
	cr_expect_str_eq(line(4), " Functions   Objects   Threads   Cgroups   Comm");
	cr_expect_str_eq(line(5), "   NOW\u25bc     ALL     TICKS  TID      THREAD");
	cr_expect_str_eq(line(6), " 99.00%  94.50%       990  7        gzip");
	press("o");
	draw(24, 80);
	cr_expect_str_eq(line(5), "   NOW\u25bc     ALL     TICKS  KIND     OBJECT");
}

Test(top_screen, before_the_first_interval)
{
	draw(24, 80);
	cr_assert_str_eq(line(6), "The first interval is not over yet.");
	add(interval_profile(NULL, 0, 0));
	draw(24, 80);
	cr_assert_str_eq(line(6), "No tick yet.");
}

Test(top_screen, sorts)
{
	sample();
	press("s");
	draw(24, 80);
	cr_assert_str_eq(line(5), "    NOW    ALL\u25bc     TICKS  OBJECT     FUNCTION");
	press("s");
	draw(24, 80);
	cr_assert_str_eq(line(5), "    NOW     ALL     TICKS  OBJECT\u25bc    FUNCTION");
	press("s");
	draw(24, 80);
	cr_assert_str_eq(line(5), "    NOW     ALL     TICKS  OBJECT     FUNCTION\u25bc");
	cr_assert_str_eq(line(6), " 39.00%  34.50%       390  gzip       deflate");
	press("s");
	draw(24, 80);
	cr_assert_str_eq(line(6), " 60.00%  60.00%       600  gzip       longest_match");
}

/* With callers functions and objects have a column more, by which they can be sorted, and other rows not. */
Test(top_screen, inclusive)
{
	struct profile *profile = NULL;
	struct error err = { 0 };

	ui.choice.callers = true;
	cr_assert_eq(profile_load("tests/golden/callers.json", &profile, &err), 0, "%s", err.text);
	add(profile);
	draw(24, 80);
	cr_assert_str_eq(line(5), "   NOW\u25bc     ALL     INCL     TICKS  OBJECT     FUNCTION");
	cr_assert_str_eq(line(6), " 40.25%  40.25%   43.47%       250  [jit 200]  fib");
	press("ss");
	draw(24, 80);
	cr_assert_str_eq(line(5), "    NOW     ALL    INCL\u25bc     TICKS  OBJECT     FUNCTION");
	cr_assert_str_eq(line(6),
			 "  0.00%   0.00%   79.98%         0  libc.so.6  __libc_start_call_main");
	press("o");
	draw(24, 80);
	cr_assert_str_eq(line(6),
			 "  8.50%   8.50%   81.30%       100  file     /usr/lib/libc.so.6");
	press("p");
	draw(24, 80);
	cr_assert_str_eq(line(5), "   NOW\u25bc     ALL     TICKS  PID      PROCESS");
	press("C");
	cr_expect_not(ui.wants_callers, "a process has none");
	press("f");
	draw(24, 80);
	press("C");
	cr_expect(ui.wants_callers);
}

Test(top_screen, filters)
{
	sample();
	press("/MEM");
	draw(24, 80);
	cr_assert_str_eq(line(6), "  0.00%   5.00%         0  libc.so.6  memcpy");
	cr_assert_str_eq(line(7), "");
	cr_assert_str_eq(line(23), "filter: MEM");
	press("\n");
	draw(24, 80);
	cr_assert(strstr(line(4), "filter: MEM"));
	press("/x\x7f\x7f\x7fx");
	draw(24, 80);
	cr_assert_str_eq(line(23), "filter: Mx");
	cr_assert_str_eq(line(6), "Nothing has this name. Esc clears the filter.");
	press("\x1b");
	draw(24, 80);
	cr_assert_str_eq(line(7), " 39.00%  34.50%       390  gzip       deflate");
	cr_assert_not(strstr(line(4), "filter"));
}

/* Keys typed into the filter are not commands; characters are kept unchanged. */
Test(top_screen, filter_takes_all_keys)
{
	int i;

	press("/q\t?");
	cr_assert_not(top_ui_key(&ui, 0xe9));
	cr_assert_not(top_ui_key(&ui, 0x4e2d));
	cr_assert_not(top_ui_key(&ui, 0x1f600));
	cr_assert_not(top_ui_key(&ui, TOP_KEY_UP));
	cr_assert_str_eq(ui.filter, "q?\u00e9\u4e2d\U0001f600");
	press("\x7f");
	cr_assert_str_eq(ui.filter, "q?\u00e9\u4e2d");
	press("\x7f\x7f");
	cr_assert_str_eq(ui.filter, "q?");
	for (i = 0; i < 1000; i++)
		top_ui_key(&ui, 0x4e2d);
	cr_assert_lt(strlen(ui.filter), sizeof(ui.filter));
	cr_assert_eq((strlen(ui.filter) - 2) % 3, 0);
	press("\x15");
	cr_assert_str_eq(ui.filter, "");
}

Test(top_screen, freezes_and_helps)
{
	sample();
	press(" ");
	draw(24, 80);
	cr_assert(ui.frozen);
	cr_assert_str_eq(line(0), "bpfprofil top  pid 7  FROZEN, Space goes on");
	press(" h");
	cr_assert_not(ui.frozen);
	draw(24, 80);
	cr_assert_leq(lines(), 24);
	cr_assert(strstr(picture, "quit"));
	press("q");
	draw(24, 80);
	cr_assert_str_eq(line(0), "bpfprofil top  pid 7");
	cr_assert(top_ui_key(&ui, 'q'));
	cr_assert(top_ui_key(&ui, TOP_KEY_QUIT));
}

/* The note has lines of its own above the keys, by words; the help has all of it. */
Test(top_screen, notes_and_keys)
{
	sample();
	model.note = strdup("one two three four five six seven eight nine ten eleven twelve "
			    "thirteen fourteen fifteen sixteen");
	draw(24, 80);
	cr_expect_str_eq(line(21), "one two three four five six seven eight nine ten eleven twelve "
				   "thirteen fourteen");
	cr_expect_str_eq(line(22), "fifteen sixteen");
	cr_expect_eq(strncmp(line(23), "h help  ", 8), 0, "%s", line(23));
	draw(20, 44);
	cr_expect_str_eq(line(17), "one two three four five six seven eight nine");
	cr_expect_eq(strncmp(line(19), "h help  ", 8), 0, "%s", line(19));
	draw(14, 44);
	cr_expect_eq(strncmp(line(12), "one two three four five six seven eight", 39), 0);
	draw(8, 44);
	cr_expect_eq(lines(), 8);
	press("h");
	draw(24, 44);
	cr_expect(strstr(picture, "sixteen"), "%s", picture);
}

/* What a small screen has no room for is left out, and not cut. */
Test(top_screen, small_header)
{
	sample();
	screen.title = "all processes: 997 Hz, every 2 s";
	draw(20, 44);
	cr_expect_str_eq(line(0), "top  all processes: 997 Hz, every 2 s");
	cr_expect_str_eq(line(1), "now  1000 ticks in 1.000 s, 1.00 of 2 CPUs");
	cr_expect_str_eq(line(19), "h help  q quit  Tab view  s sort  / filter");
	draw(20, 80);
	cr_expect_str_eq(line(0), "bpfprofil top  all processes: 997 Hz, every 2 s");
	cr_expect_str_eq(line(1), "now  1000 ticks in 1.000 s, 1.00 of 2 CPUs (50.0 %), 10 lost");
}

/* Nothing of the help is cut on a small screen. */
Test(top_screen, help_fits)
{
	press("h");
	draw(20, 44);
	cr_expect_null(strstr(picture, "\u2026"), "%s", picture);
	cr_expect(strstr(picture, "bpfprofil-top"));
}

/* A message about the file replaces the keys, until the next key. */
Test(top_screen, asks_for_a_file_and_says_which)
{
	sample();
	press("w");
	cr_assert(ui.wants_file);
	strcpy(ui.message, "written: a.json");
	draw(24, 80);
	cr_assert_str_eq(line(23), "written: a.json");
	press("k");
	draw(24, 80);
	cr_assert(strstr(line(23), "Space freeze  w write"), "%s", line(23));
	ui.wants_file = false;
	press("/w\n");
	cr_assert_not(ui.wants_file);
}

/* clang-format off */
Test(top_screen, stays_with_the_row)
{
	sample();
	draw(24, 80);
	cr_assert_not(top_ui_key(&ui, TOP_KEY_DOWN));
	draw(24, 80);
	cr_assert_str_eq(ui.list.rows[ui.selected]->name, "deflate");
	add(INTERVAL(0, { "/bin/gzip", "deflate", 0x10, 7, "gzip", NULL, 1 },
			{ "/lib/libc.so.6", "memcpy", 0x30, 8, "cat", NULL, 9 }));
	draw(24, 80);
	cr_assert_str_eq(ui.list.rows[ui.selected]->name, "deflate");
	add(INTERVAL(0, { "/bin/gzip", "deflate", 0x10, 7, "gzip", NULL, 9 }));
	draw(24, 80);
	cr_assert_str_eq(ui.list.rows[ui.selected]->name, "deflate");
	/* It is the first row now, and at the first row the selection stays with the hottest. */
	cr_assert_eq(ui.selected, 0);
	add(INTERVAL(0, { "/lib/libc.so.6", "memcpy", 0x30, 8, "cat", NULL, 9 }));
	draw(24, 80);
	cr_assert_str_eq(ui.list.rows[ui.selected]->name, "memcpy");
}
/* clang-format on */

static void add_many(size_t nr)
{
	cleanup_free struct interval_count *counted = calloc(nr, sizeof(*counted));
	size_t i;

	for (i = 0; i < nr; i++)
		counted[i] = (struct interval_count){ .object = "o",
						      .function = "f",
						      .offset = i,
						      .ticks = nr - i };
	add(interval_profile(counted, nr, 0));
}

Test(top_screen, scrolls)
{
	add_many(100);
	draw(24, 80);
	cr_assert_eq(ui.rows, 17);
	top_ui_key(&ui, TOP_KEY_PAGE_DOWN);
	draw(24, 80);
	cr_assert_eq(ui.selected, 17);
	cr_assert_eq(ui.first, 1);
	top_ui_key(&ui, TOP_KEY_END);
	draw(24, 80);
	cr_assert_eq(ui.selected, 99);
	cr_assert_eq(ui.first, 83);
	top_ui_key(&ui, TOP_KEY_DOWN);
	top_ui_key(&ui, TOP_KEY_PAGE_UP);
	draw(24, 80);
	cr_assert_eq(ui.selected, 82);
	cr_assert_eq(ui.first, 82);
	/* After the screen has grown there are no blank rows while there are others to show. */
	top_ui_key(&ui, TOP_KEY_END);
	draw(60, 80);
	cr_assert_eq(ui.first, 100 - 53);
	top_ui_key(&ui, TOP_KEY_HOME);
	top_ui_key(&ui, TOP_KEY_UP);
	draw(60, 80);
	cr_assert_eq(ui.selected + ui.first, 0);
}

/* clang-format off */
static void hostile(void)
{
	add(INTERVAL(0, { "/bin/\x1b[2J", "\x1b]0;owned\a\r\n\x01\x08name", 1, 1, "a\nb", "/c\x1b", 9 },
			{ "/bin/\xff\xfe\x80", "bad\xc3(\xe4\xb8 utf-8 \xf0\x9f", 2, 2, "\x80", "\xff", 8 },
			{ "/bin/\u4e2d\u6587\u4e2d\u6587", "\u5bbd\u5b57\u7b26\u5bbd\u5b57\u7b26", 3, 3, "\u5bbd", "/\u5bbd", 7 },
			{ "/bin/e\u0301", "e\u0301a\u0308o\u0302\u0301\u0302\u0301", 4, 4, "e\u0301", NULL, 6 },
			{ "/bin/\xc2\x9b" "31m", "\xc2\x85\u202e\U0001f600", 5, 5, "", "", 5 },
			{ "/bin/t", "ns::a<b<\u5bbd\u5b57, c>, (d<<<<e(((::\u5b57\x1b(f<g", 7, 7, "t", "/t", 3 },
			{ "", "", 6, 6, NULL, NULL, 4 }));
	add_many(40);
	model.note = strdup("a \x1b[31mnote\n");
}
/* clang-format on */

/*
 * At any size no line is too wide, there are not too many, and the only control characters are our
 * styles.
 */
static void check_picture(size_t rows, size_t columns)
{
	char *at, *end;

	draw(rows, columns);
	cr_assert_leq(lines(), rows, "%zux%zu", columns, rows);
	for (at = picture; *at; at = end + 1) {
		char text[8192], *to = text;

		end = strchr(at, '\n');
		for (; at < end; at++) {
			cr_assert((unsigned char)*at >= ' ' || *at < TOP_STYLES, "%02x", *at);
			cr_assert_neq(*at, 0x7f);
			if ((unsigned char)*at >= ' ')
				*to++ = *at;
		}
		*to = '\0';
		cr_assert_leq(text_columns(text), columns, "%zux%zu: '%s'", columns, rows, text);
		cr_assert_neq(mbstowcs(NULL, text, 0), (size_t)-1, "'%s'", text);
	}
}

Test(top_screen, any_size_and_any_name)
{
	size_t rows, columns, by;

	hostile();
	press("/\x15\n");
	screen.title = "\x1b[31m\xff title \u5bbd\u5bbd\u5bbd";
	screen.cgroups = true;
	for (by = 0; by < TOP_BYS; by++) {
		ui.choice.by = by;
		for (rows = 0; rows < 30; rows++)
			for (columns = 0; columns < 134; columns++)
				check_picture(rows, columns);
	}
	press("h");
	for (rows = 0; rows < 20; rows++)
		check_picture(rows, rows * 4);
}

/* An annotated function covers the table, hottest first or not, and can be closed. */
Test(top_screen, pages)
{
	char *text = calloc(1, 1000), *at = text;
	int i;

	cr_assert(text);
	sample();
	draw(24, 80);
	press("\n");
	cr_assert(ui.wants_page);
	for (i = 0; i < 100; i++)
		at += sprintf(at, "%d\n", i);
	at += sprintf(at + 1, "\033[1;31m 9.00%%\033[0m h\xff\033[2mot\n") + 1;
	top_page_open(&ui.page, text, (size_t)(at - text));
	ui.page.rows = 23;
	draw(24, 80);
	cr_assert_str_eq(line(0), "0");
	cr_assert_str_eq(line(22), "22");
	top_ui_key(&ui, TOP_KEY_PAGE_DOWN);
	top_ui_key(&ui, TOP_KEY_DOWN);
	draw(24, 80);
	cr_assert_str_eq(line(0), "24");
	top_ui_key(&ui, TOP_KEY_END);
	draw(24, 80);
	cr_assert_str_eq(line(22), "99");
	press("H");
	draw(24, 80);
	cr_assert_str_eq(line(0), " 9.00% h\\xffot");
	for (i = 0; i < 30; i++)
		check_picture((size_t)i, (size_t)i);
	press("q");
	draw(24, 80);
	cr_assert_str_eq(line(0), "bpfprofil top  pid 7");
	press("o");
	ui.wants_page = false;
	press("\n");
	cr_assert_not(ui.wants_page);
}

Test(top_screen, others)
{
	model.rows_max = 8;
	add_many(20);
	draw(24, 80);
	cr_assert_str_eq(line(12), " 50.00%  50.00%       105  of 14 others, which are no longer "
				   "kept apart");
}

/* The same without a screen. */
Test(top_screen, plain)
{
	struct top_plain plain = { .choice = { .by = TOP_FUNCTIONS }, .limit = 1 };
	FILE *out = open_memstream(&picture, &picture_size);

	sample();
	setenv("TZ", "UTC", 1);
	cr_assert_eq(top_plain_interval(&plain, &model, 86399, out), 0);
	plain.limit = 0;
	cr_assert_eq(top_plain_overall(&plain, &model, out), 0);
	cr_assert_eq(fclose(out), 0);
	cr_assert_str_eq(picture,
			 "1970-01-01T23:59:59+0000  1000 ticks in 1.000 s, 1.00 of 2 CPUs "
			 "(50.0 %), 10 lost\n"
			 "    NOW     ALL     TICKS  OBJECT   FUNCTION\n"
			 " 60.00%  60.00%       600  gzip     longest_match\n"
			 "\n"
			 "overall  2000 ticks in 2.000 s, 1.00 of 2 CPUs (50.0 %), 10 lost\n"
			 "2000 = 1990 binned + 0 overflow + 0 outside + 0 filtered + 10 lost "
			 "(exit 10)\n"
			 "     ALL     TICKS  OBJECT     FUNCTION\n"
			 "  60.00%      1200  gzip       longest_match\n"
			 "  34.50%       690  gzip       deflate\n"
			 "   5.00%       100  libc.so.6  memcpy\n");
	top_plain_free(&plain);
}
