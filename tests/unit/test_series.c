// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/record/series.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test_file_fixture.h"

#define BEFORE_WINTER 1792889990 /* 2026-10-25T00:59:50Z: summer time ends 10 s later */
#define BEFORE_SUMMER 1774745990 /* 2026-03-29T00:59:50Z: it begins 10 s later */

TestSuite(series, .init = folder_enter, .fini = folder_remove);

static void begin(struct series *series, const char *pattern, time_t now, uint64_t keep)
{
	struct error err = { 0 };

	cr_assert_eq(series_begin(series, pattern, 4711, now, keep, &err), 0, "%s", err.text);
}

static void next(struct series *series, time_t now)
{
	struct error err = { 0 };

	cr_assert_eq(series_next(series, now, &err), 0, "%s", err.text);
}

static void berlin(void)
{
	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
}

/* Names of files 15 s apart, across a change of the offset from UTC. */
static void check_over(time_t first, const char *const *names)
{
	struct series series;
	int i;

	berlin();
	begin(&series, "%t", first, 0);
	for (i = 0; i < 3; i++) {
		cr_expect_str_eq(series.path, names[i]);
		next(&series, first + 15 * (i + 1));
	}
	series_free(&series);
}

/* The hour that occurs twice would give two files one name. */
Test(series, names_ascend_when_summer_time_ends)
{
	check_over(BEFORE_WINTER,
		   (const char *[]){ "20261025-025950", "20261025-030005", "20261025-030020" });
}

Test(series, names_ascend_when_summer_time_begins)
{
	check_over(BEFORE_SUMMER,
		   (const char *[]){ "20260329-015950", "20260329-020005", "20260329-020020" });
}

/* Two files in one second, and a time that goes back by less than one may by that. */
Test(series, each_has_a_second_of_its_own)
{
	struct series series;

	setenv("TZ", "UTC0", 1);
	tzset();
	begin(&series, "a%%%p-%t.json", 1000000000, 0);
	cr_expect_str_eq(series.path, "a%4711-20010909-014640.json");
	cr_assert_eq(series_start(&series, 1000000003, NULL), 0);
	cr_expect_str_eq(series.path, "a%4711-20010909-014643.json");
	cr_assert_eq(series_start(&series, 1000000000, NULL), 0);
	next(&series, 1000000000);
	cr_expect_str_eq(series.path, "a%4711-20010909-014641.json");
	next(&series, 999999999);
	cr_expect_str_eq(series.path, "a%4711-20010909-014642.json");
	next(&series, 1000000007);
	cr_expect_str_eq(series.path, "a%4711-20010909-014647.json");
	series_free(&series);
}

static void write_next(struct series *series, int wanted)
{
	FILE *file = fopen(series->path, "we");
	struct error err = { 0 };

	cr_assert_not_null(file);
	fclose(file);
	cr_assert_eq(series_written(series, &err), wanted, "%s", err.text);
	next(series, series->second);
}

/* A clock that is set back is followed, but what has a name then keeps it. */
Test(series, follows_a_clock_that_is_set_back)
{
	struct series series;
	int i;

	setenv("TZ", "UTC0", 1);
	tzset();
	begin(&series, "p-%t", 1000000000, 0);
	for (i = 0; i < 3; i++)
		write_next(&series, 0);
	cr_expect_str_eq(series.path, "p-20010909-014643");
	next(&series, 1000000000 - 28800);
	cr_expect_str_eq(series.path, "p-20010908-174640");
	next(&series, 1000000000 - 28799);
	cr_expect_str_eq(series.path, "p-20010908-174641");
	next(&series, 1000000000);
	cr_expect_str_eq(series.path, "p-20010909-014643", "the first three are there");
	next(&series, 1000000060);
	cr_expect_str_eq(series.path, "p-20010909-014740");
	series_free(&series);
}

static void check_there(const char *name, bool wanted)
{
	cr_expect_eq(!access(name, F_OK), wanted, "%s", name);
}

static void check_print(const struct series *series, const char *wanted)
{
	char text[256] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	series_print(series, out);
	fclose(out);
	cr_expect_str_eq(text, wanted);
}

/* Only the newest stay, and nobody else's file is removed. */
Test(series, keep)
{
	struct series series;
	int i;

	setenv("TZ", "UTC0", 1);
	tzset();
	cr_assert_not_null(fopen("p-20010909-014639", "we"));
	begin(&series, "p-%t", 1000000000, 2);
	check_print(&series, "");
	write_next(&series, 0);
	check_print(&series, "profile: p-20010909-014640\n");
	for (i = 0; i < 3; i++)
		write_next(&series, 0);
	check_there("p-20010909-014639", true);
	check_there("p-20010909-014640", false);
	check_there("p-20010909-014641", false);
	check_there("p-20010909-014642", true);
	check_there("p-20010909-014643", true);
	check_print(&series, "profiles: the last 2 of 4, p-20010909-014642 to p-20010909-014643\n");
	series_free(&series);
}

/* A file that somebody has removed is skipped; one that cannot be removed is reported. */
Test(series, keep_meets_others)
{
	struct series series;

	setenv("TZ", "UTC0", 1);
	tzset();
	begin(&series, "p-%t", 1000000000, 1);
	write_next(&series, 0);
	cr_assert_eq(unlink("p-20010909-014640"), 0);
	write_next(&series, 0);
	cr_assert_eq(unlink("p-20010909-014641"), 0);
	cr_assert_eq(mkdir("p-20010909-014641", 0700), 0);
	write_next(&series, -EISDIR);
	check_print(&series, "profiles: the last 1 of 3, p-20010909-014642\n");
	series_free(&series);
}

/* Without a limit the names of a long run are not remembered. */
Test(series, all)
{
	struct series series;
	int i;

	setenv("TZ", "UTC0", 1);
	tzset();
	begin(&series, "p-%t", 1000000000, 0);
	for (i = 0; i < 5; i++)
		write_next(&series, 0);
	cr_expect_leq(series.nr_kept, 2);
	check_there("p-20010909-014640", true);
	check_print(&series, "profiles: 5, p-20010909-014640 to p-20010909-014644\n");
	series_free(&series);
}
