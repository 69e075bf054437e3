// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "base/util.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct number_case {
	const char *text;
	int result;
	uint64_t value;
};

static void check_numbers(int (*parse)(const char *, uint64_t *), const struct number_case *cases)
{
	for (; cases->text; cases++) {
		uint64_t value = 42;
		int result = parse(cases->text, &value);

		cr_assert_eq(result, cases->result, "'%s': %d", cases->text, result);
		cr_assert_eq(value, result ? 42 : cases->value, "'%s': %lu", cases->text, value);
	}
}

Test(util, u64)
{
	static const struct number_case cases[] = {
		{ "0", 0, 0 },
		{ "010", 0, 10 },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "18446744073709551616", -ERANGE, 0 },
		{ "99999999999999999999999", -ERANGE, 0 },
		{ "0x0", 0, 0 },
		{ "0XfF", 0, 255 },
		{ "0xffffffffffffffff", 0, UINT64_MAX },
		{ "0x10000000000000000", -ERANGE, 0 },
		{ "", -EINVAL, 0 },
		{ "0x", -EINVAL, 0 },
		{ "-1", -EINVAL, 0 },
		{ "+1", -EINVAL, 0 },
		{ " 1", -EINVAL, 0 },
		{ "1 ", -EINVAL, 0 },
		{ "1\n", -EINVAL, 0 },
		{ "1a", -EINVAL, 0 },
		{ "a", -EINVAL, 0 },
		{ "1.0", -EINVAL, 0 },
		{ "0x-1", -EINVAL, 0 },
		{ "0x0x1", -EINVAL, 0 },
		{ NULL, 0, 0 },
	};

	check_numbers(parse_u64, cases);
}

Test(util, size)
{
	static const struct number_case cases[] = {
		{ "0", 0, 0 },
		{ "4096", 0, 4096 },
		{ "1K", 0, 1024 },
		{ "64M", 0, 64ULL << 20 },
		{ "64m", 0, 64ULL << 20 },
		{ "2G", 0, 2ULL << 30 },
		{ "16777215T", 0, 16777215ULL << 40 },
		{ "16777216T", -ERANGE, 0 },
		{ "18446744073709551616", -ERANGE, 0 },
		{ "", -EINVAL, 0 },
		{ "M", -EINVAL, 0 },
		{ "-1M", -EINVAL, 0 },
		{ "1 M", -EINVAL, 0 },
		{ "1MM", -EINVAL, 0 },
		{ "1M ", -EINVAL, 0 },
		{ "1.5M", -EINVAL, 0 },
		{ "0x10", -EINVAL, 0 },
		{ "1P", -EINVAL, 0 },
		{ NULL, 0, 0 },
	};

	check_numbers(parse_size, cases);
}

Test(util, duration)
{
	static const struct number_case cases[] = {
		{ "0", 0, 0 },
		{ "3", 0, 3000000000 },
		{ "7ns", 0, 7 },
		{ "7us", 0, 7000 },
		{ "250ms", 0, 250000000 },
		{ "10s", 0, 10000000000 },
		{ "5m", 0, 300000000000 },
		{ "1h", 0, 3600000000000 },
		{ "0.5", 0, 500000000 },
		{ "1.25ms", 0, 1250000 },
		{ "0.0000000001s", 0, 0 },
		{ "1.9999999999999999999999999ns", 0, 1 },
		{ "18446744073.709551615", 0, UINT64_MAX },
		{ "18446744073.709551616", -ERANGE, 0 },
		{ "18446744074", -ERANGE, 0 },
		{ "5124096h", -ERANGE, 0 },
		{ "", -EINVAL, 0 },
		{ "s", -EINVAL, 0 },
		{ ".5", -EINVAL, 0 },
		{ "1.", -EINVAL, 0 },
		{ "1.s", -EINVAL, 0 },
		{ "-1s", -EINVAL, 0 },
		{ "1 s", -EINVAL, 0 },
		{ "1sec", -EINVAL, 0 },
		{ "1S", -EINVAL, 0 },
		{ "1h30m", -EINVAL, 0 },
		{ NULL, 0, 0 },
	};

	check_numbers(parse_duration, cases);
}

static void check_decimals(void)
{
	static const char *const refused[] = { "",    "-1",  "+1", " 1", "1 ",	"1,5", "inf",
					       "nan", "0x1", "1e", ".",	 "1e+", "e1",  "1.2.3" };
	double value = 42;
	size_t i;

	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		cr_assert_eq(parse_double(refused[i], &value), -EINVAL, "'%s'", refused[i]);
	cr_assert_eq(parse_double("1e999", &value), -ERANGE);
	cr_assert_eq(value, 42);
	cr_assert_eq(parse_double("997", &value), 0);
	cr_assert_eq(value, 997);
	cr_assert_eq(parse_double("99.5", &value), 0);
	cr_assert_eq(value, 99.5);
	cr_assert_eq(parse_double(".5", &value), 0);
	cr_assert_eq(value, 0.5);
	cr_assert_eq(parse_double("1.e+2", &value), 0);
	cr_assert_eq(value, 100);
}

Test(util, double_)
{
	check_decimals();
}

/* A locale with a decimal comma, if there is one here, must change nothing. */
Test(util, double_in_another_locale)
{
	if (!setlocale(LC_ALL, "de_DE.UTF-8"))
		setlocale(LC_ALL, "");
	check_decimals();
}

Test(util, grow_keeps_what_is_there)
{
	cleanup_free uint32_t *array = NULL;
	size_t capacity = 0;
	size_t moved = 0;
	uint32_t i;

	for (i = 0; i < 1000; i++) {
		size_t before = capacity;

		cr_assert_eq(grow((void **)&array, &capacity, i + 1, sizeof(*array)), 0);
		cr_assert_geq(capacity, i + 1);
		moved += capacity != before;
		array[i] = i;
	}
	for (i = 0; i < 1000; i++)
		cr_assert_eq(array[i], i);
	cr_assert_leq(moved, 10, "%zu times", moved);
}

Test(util, grow_refuses_what_does_not_fit)
{
	int *array = NULL;
	size_t capacity = 0;

	cr_assert_eq(grow((void **)&array, &capacity, SIZE_MAX, sizeof(*array)), -EOVERFLOW);
	cr_assert_eq(grow((void **)&array, &capacity, SIZE_MAX / 2 + 2, 2), -EOVERFLOW);
#ifndef __SANITIZE_ADDRESS__ /* the sanitizer ends the program instead of failing */
	cr_assert_eq(grow((void **)&array, &capacity, SIZE_MAX / 2, 1), -ENOMEM);
#endif
	cr_assert_null(array);
	cr_assert_eq(capacity, 0);
}

Test(util, utf8)
{
	static const struct {
		const char *text;
		size_t length;
	} cases[] = {
		{ "a", 1 },
		{ "\x7f", 1 },
		{ "\xc2\x80", 2 },
		{ "\xe0\xa0\x80", 3 },
		{ "\xed\x9f\xbf", 3 },
		{ "\xee\x80\x80", 3 },
		{ "\xf0\x90\x80\x80", 4 },
		{ "\xf4\x8f\xbf\xbf", 4 },
		{ "", 0 },
		{ "\x80", 0 },
		{ "\xc0\x80", 0 }, /* NUL in two bytes */
		{ "\xc1\xbf", 0 },
		{ "\xc3", 0 },
		{ "\xc3(", 0 },
		{ "\xe0\x9f\xbf", 0 }, /* an overlong form */
		{ "\xed\xa0\x80", 0 }, /* a surrogate */
		{ "\xe2\x82", 0 },
		{ "\xe2\x82(", 0 },
		{ "\xf0\x8f\xbf\xbf", 0 },
		{ "\xf4\x90\x80\x80", 0 }, /* above U+10FFFF */
		{ "\xf5\x80\x80\x80", 0 },
		{ "\xff", 0 },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		cr_assert_eq(utf8_sequence(cases[i].text, strlen(cases[i].text)), cases[i].length,
			     "case %zu", i);
	cr_assert_eq(utf8_sequence("\xe2\x82\xac", 2), 0);
}

static int leave_scope(bool open_them)
{
	cleanup_fd int fd = open_them ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;
	cleanup_file FILE *file = open_them ? fopen("/dev/null", "re") : NULL;
	cleanup_free char *text = open_them ? strdup("text") : NULL;

	if (open_them && (fd < 0 || !file || !text))
		return -1;
	errno = EXDEV;
	return fd;
}

Test(util, cleanup_closes_and_keeps_errno)
{
	int fd;

	cr_assert_eq(leave_scope(false), -1);
	fd = leave_scope(true);
	cr_assert_eq(errno, EXDEV);
	cr_assert_geq(fd, 0);
	cr_assert_eq(fcntl(fd, F_GETFD), -1);
}

Test(util, bisect_counts_what_comes_before)
{
	const uint64_t list[] = { 1, 3, 3, 7 };
	uint64_t key;
	size_t nr, below, up_to;

	for (nr = 0; nr <= sizeof(list) / sizeof(*list); nr++) {
		for (key = 0; key <= 8; key++) {
			size_t at;

			for (at = below = up_to = 0; at < nr; at++) {
				below += list[at] < key;
				up_to += list[at] <= key;
			}
			cr_expect_eq(BISECT(i, nr, list[i] < key), below);
			cr_expect_eq(BISECT(i, nr, list[i] <= key), up_to);
		}
	}
}
