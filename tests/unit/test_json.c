// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "base/json_reader.h"
#include "base/json_text.h"
#include "base/util.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct input *input_of(const char *text, size_t size)
{
	int fd = memfd_create("json", MFD_CLOEXEC);
	struct input *in = NULL;

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, size), (ssize_t)size);
	cr_assert_eq(lseek(fd, 0, SEEK_SET), 0);
	cr_assert_eq(input_open_fd(fd, "text", &in, NULL), 0);
	return in;
}

/* Skips one value and then expects the end. */
static int judge(const char *text, struct error *err)
{
	struct input *in = input_of(text, strlen(text));
	struct json_reader *json = json_reader_new(in, err);
	int ret;

	cr_assert_not_null(json);
	ret = json_reader_skip(json);
	if (!ret)
		ret = json_reader_end(json);
	json_reader_free(json);
	input_close(in);
	return ret;
}

Test(json, takes_what_the_standard_takes)
{
	static const char *const texts[] = {
		"{}",
		"[]",
		"\"\"",
		" [ ] ",
		"[[],{}]",
		"[1,2 , 3]",
		"{\"a\":{\"b\":[{}]},\"c\":0}",
		"[-0, -1, 0.5, 1e5, 1E+5, 1.25e-10, 123456789012345678901234567890]",
		"[true,false,null]",
		"[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00\"]",
		"\r\n\t[\"\xc3\xa9\x7f\"]\n",
	};
	struct error err;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		cr_assert_eq(judge(texts[i], &err), 0, "%s: %s", texts[i], err.text);
}

Test(json, refuses_what_the_standard_refuses)
{
	static const char *const texts[] = {
		"[1,]",		 "[,1]",	  "[1 2]",	   "{\"a\":1,}",
		"{\"a\" 1}",	 "{a:1}",	  "{1:1}",	   "{\"a\":}",
		"[01]",		 "[-]",		  "[+1]",	   "[1.]",
		"[.5]",		 "[1e]",	  "[1e+]",	   "[0x1]",
		"[NaN]",	 "[Infinity]",	  "[tru ]",	   "[True]",
		"[nul]]",	 "['a']",	  "[\"\\x\"]",	   "[\"\\u12g4\"]",
		"[\"a\nb\"]",	 "[\"\\u0000\"]", "[\"\\ud800\"]", "[\"\\ud800\\u0041\"]",
		"[\"\\udc00\"]", "[\"\xff\"]",	  "[\"\xc3\"]",	   "[1]]",
		"[1] x",	 "{\"a\":1]",	  "[1}",	   "// a\n[]",
		"[-01]",
	};
	struct error err;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		cr_assert_eq(judge(texts[i], &err), -EBADMSG, "%s", texts[i]);
		cr_assert_eq(strncmp(err.text, "text: line ", 11), 0, "%s", err.text);
		cr_assert_null(strchr(err.text, '\n'));
	}
}

Test(json, every_prefix_is_truncated)
{
	static const char text[] = "{\"a\\u00e9\": [1, -2.5e+3, true, null, {\"b\": \"c\"}]}";
	char prefix[sizeof(text)];
	struct error err;
	size_t size;

	for (size = 0; size < sizeof(text) - 1; size++) {
		memcpy(prefix, text, size);
		prefix[size] = '\0';
		cr_assert_eq(judge(prefix, &err), -ENODATA, "%s: %s", prefix, err.text);
		cr_assert_str_eq(err.text, "text: truncated");
	}
	cr_assert_eq(judge(text, &err), 0);
}

Test(json, depth_is_limited)
{
	char text[200];
	struct error err;

	memset(text, '[', 64);
	memset(text + 64, ']', 64);
	text[128] = '\0';
	cr_assert_eq(judge(text, &err), 0, "%s", err.text);
	memset(text, '[', 65);
	cr_assert_eq(judge(text, &err), -EBADMSG);
	cr_assert_str_eq(err.text, "text: line 1: nested deeper than 64");
}

Test(json, names_the_line)
{
	struct error err;

	cr_assert_eq(judge("[1,\n2,\n\nx]", &err), -EBADMSG);
	cr_assert_str_eq(err.text, "text: line 4: 'x' where a value should be");
	cr_assert_eq(judge("[\n\x01]", &err), -EBADMSG);
	cr_assert_str_eq(err.text, "text: line 2: byte 0x01 where a value should be");
}

/* Whether a pair is taken, after which the reader is behind it; else it is where it was. */
static bool takes_pair(const char *pair_text, uint64_t pair[2])
{
	struct error err = { "", "" };
	struct json_reader *json;
	struct input *in;
	char text[128];
	bool taken;

	snprintf(text, sizeof(text), "[%s,%60s]", pair_text, "");
	in = input_of(text, strlen(text));
	json = json_reader_new(in, &err);
	cr_assert_eq(json_reader_array(json), 0);
	cr_assert_eq(json_reader_element(json), 1);
	taken = json_reader_pairs(json, (uint64_t(*)[2])pair, 1) == 1;
	if (taken)
		cr_expect_eq(json_reader_element(json), 1, "%s", pair_text);
	else
		cr_expect_eq(json_reader_array(json), 0, "%s", pair_text);
	json_reader_free(json);
	input_close(in);
	return taken;
}

Test(json, pairs_are_taken_whole)
{
	static const char *const refused[] = {
		"[1000000000000000000000,1]",
		"[1,18446744073709551616]",
		"[01,1]",
		"[1,00]",
		"[-1,1]",
		"[1.5,1]",
		"[1,1e3]",
		"[,1]",
		"[1,]",
		"[1]",
		"[1,2,3]",
		"[1 ,2]",
		"[\"1\",2]",
	};
	uint64_t pair[2];
	size_t i;

	cr_expect(takes_pair("[0,12]", pair));
	cr_expect(pair[0] == 0 && pair[1] == 12);
	cr_expect(takes_pair("[999999999999999999,999999999999999998]", pair));
	cr_expect(pair[0] == 999999999999999999 && pair[1] == 999999999999999998);
	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		cr_expect_not(takes_pair(refused[i], pair), "%s", refused[i]);
}

/* Up to 18 digits, and any byte behind them: it ends the number, whose digits are read eight at a time. */
Test(json, pairs_of_any_length)
{
	char digits[20], text[64];
	uint64_t pair[2];
	size_t nr;
	int byte;

	for (nr = 1; nr <= 18; nr++) {
		snprintf(digits, sizeof(digits), "%.*s", (int)nr, "908172635445362718");
		snprintf(text, sizeof(text), "[%s,%s]", digits, digits);
		cr_assert(takes_pair(text, pair), "%s", text);
		cr_expect(pair[0] == strtoull(digits, NULL, 10) && pair[1] == pair[0], "%s", text);
		for (byte = 1; byte < 256; byte++) {
			bool is_digit = byte >= '0' && byte <= '9';

			snprintf(text, sizeof(text), "[%s%c,7]", digits, byte);
			cr_expect_eq(takes_pair(text, pair), is_digit && nr < 18, "%s", text);
		}
	}
}

/* Several buffers of them, of which any pair may lie across the end of one. */
Test(json, pairs_in_a_row)
{
	const size_t nr = 30000;
	cleanup_free uint64_t(*wanted)[2] = calloc(nr, sizeof(*wanted));
	struct error err = { "", "" };
	struct json_reader *json;
	char *text = NULL;
	size_t size, i, at = 0, got, ones = 0;
	uint64_t pairs[7][2];
	FILE *out = open_memstream(&text, &size);
	struct input *in;

	cr_assert(wanted && out);
	for (i = 0; i < nr; i++) {
		wanted[i][0] = i * i * 2654435761U >> i % 60;
		wanted[i][1] = 1 + i % 1200;
		fprintf(out, "%c[%" PRIu64 ",%" PRIu64 "]", i ? ',' : '[', wanted[i][0],
			wanted[i][1]);
	}
	fputc(']', out);
	fclose(out);
	in = input_of(text, size);
	json = json_reader_new(in, &err);
	cr_assert_eq(json_reader_array(json), 0);
	while (json_reader_element(json) == 1) {
		got = json_reader_pairs(json, pairs, 1 + at % 7);
		cr_assert_leq(got, 1 + at % 7);
		ones += !got;
		if (!got) {
			cr_assert(!json_reader_array(json) && json_reader_element(json) == 1);
			cr_assert(!json_reader_u64(json, &pairs[0][0]) &&
				  json_reader_element(json) == 1);
			cr_assert(!json_reader_u64(json, &pairs[0][1]) &&
				  !json_reader_element(json));
			got = 1;
		}
		cr_assert_leq(at + got, nr);
		cr_assert_arr_eq(pairs, wanted + at, got * sizeof(*pairs));
		at += got;
	}
	cr_expect_eq(at, nr);
	cr_expect_eq(json_reader_end(json), 0, "%s", err.text);
	cr_expect(ones > 0 && ones < nr / 100, "%zu one by one", ones);
	json_reader_free(json);
	input_close(in);
	free(text);
}

Test(json, numbers)
{
	static const char text[] =
		"[18446744073709551615, 0, 18446744073709551616, 1.5, -1, 1.5e3, 1e999]";
	struct input *in = input_of(text, strlen(text));
	struct error err = { "", "" };
	struct json_reader *json = json_reader_new(in, &err);
	uint64_t number = 42;
	double real = 42;

	cr_assert_eq(json_reader_array(json), 0);
	cr_assert_eq(json_reader_element(json), 1);
	cr_assert_eq(json_reader_u64(json, &number), 0);
	cr_assert_eq(number, UINT64_MAX);
	cr_assert_eq(json_reader_element(json), 1);
	cr_assert_eq(json_reader_u64(json, &number), 0);
	cr_assert_eq(number, 0);
	cr_assert_eq(json_reader_element(json), 1);
	cr_assert_eq(json_reader_u64(json, &number), -EBADMSG);
	cr_assert_str_eq(err.text, "text: line 1: a number is above 2^64 - 1");
	cr_assert_eq(number, 0);
	json_reader_free(json);
	input_close(in);

	in = input_of("[1.5e3, 1.5, -1]", 16);
	json = json_reader_new(in, &err);
	cr_assert_eq(json_reader_array(json), 0);
	cr_assert_eq(json_reader_element(json), 1);
	cr_assert_eq(json_reader_double(json, &real), 0);
	cr_assert_eq(real, 1500);
	cr_assert_eq(json_reader_element(json), 1);
	cr_assert_eq(json_reader_u64(json, &number), 0);
	cr_assert_eq(json_reader_element(json), -EBADMSG, "1 of 1.5 is no element");
	json_reader_free(json);
	input_close(in);
}

Test(json, numbers_below_zero)
{
	static const char text[] =
		"[-1, 0, -0, 7, -9223372036854775807, 9223372036854775807, -9223372036854775808]";
	static const int64_t wanted[] = { -1, 0, 0, 7, -INT64_MAX, INT64_MAX };
	static const char *const refused[] = { "[- 1]", "[-]", "[--1]", "[-01]", "[x]", "[\"1\"]" };
	struct input *in = input_of(text, strlen(text));
	struct error err = { "", "" };
	struct json_reader *json = json_reader_new(in, &err);
	int64_t number = 42;
	size_t i;

	cr_assert_eq(json_reader_array(json), 0);
	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		cr_assert_eq(json_reader_element(json), 1);
		cr_assert_eq(json_reader_i64(json, &number), 0, "%s", err.text);
		cr_expect_eq(number, wanted[i]);
	}
	cr_assert_eq(json_reader_element(json), 1);
	cr_assert_eq(json_reader_i64(json, &number), -EBADMSG);
	cr_expect_str_eq(err.text, "text: line 1: a number is beyond 2^63 - 1");
	json_reader_free(json);
	input_close(in);
	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		in = input_of(refused[i], strlen(refused[i]));
		json = json_reader_new(in, &err);
		cr_assert_eq(json_reader_array(json), 0);
		cr_assert_eq(json_reader_element(json), 1);
		cr_expect_eq(json_reader_i64(json, &number), -EBADMSG, "%s", refused[i]);
		json_reader_free(json);
		input_close(in);
	}
}

/* Strings and numbers that cross the end of the reader's buffer. */
Test(json, long_texts)
{
	size_t size = 300000;
	cleanup_free char *text = malloc(size + 64);
	struct error err = { "", "" };
	struct json_reader *json;
	struct input *in;
	char *string = NULL;
	uint64_t number;
	int len;
	int pad;

	for (pad = 0; pad < 24; pad++) {
		memset(text, 'x', size);
		memset(text, ' ', 65536 - 24 + (size_t)pad);
		len = sprintf(text + 65536 - 24 + pad, "[12345678901234567890,\"\\u00e9");
		text[65536 - 24 + pad + len] = 'y';
		strcpy(text + size, "\"]");
		in = input_of(text, strlen(text));
		json = json_reader_new(in, &err);
		cr_assert_eq(json_reader_array(json), 0);
		cr_assert_eq(json_reader_element(json), 1);
		cr_assert_eq(json_reader_u64(json, &number), 0, "%s", err.text);
		cr_assert_eq(number, 12345678901234567890ULL);
		cr_assert_eq(json_reader_element(json), 1);
		cr_assert_eq(json_reader_string(json, &string), 0, "%s", err.text);
		cr_assert_eq(strncmp(string, "\xc3\xa9yxx", 5), 0);
		cr_assert_eq(strlen(string), size - 65536 + 24 - (size_t)pad - (size_t)len + 2);
		cr_assert_eq(json_reader_element(json), 0);
		cr_assert_eq(json_reader_end(json), 0);
		free(string);
		json_reader_free(json);
		input_close(in);
	}
}

static char *text_of(const char *string)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	json_text_string(stream, string);
	fclose(stream);
	return text;
}

Test(json, text_of_strings)
{
	static const char *const cases[][2] = {
		{ "", "\"\"" },
		{ "a \"b\" \\ / c", "\"a \\\"b\\\" \\\\ / c\"" },
		{ "\b\f\n\r\t\x01\x1f\x7f", "\"\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f\"" },
		{ "caf\xc3\xa9 \xf0\x9f\x98\x80", "\"caf\xc3\xa9 \xf0\x9f\x98\x80\"" },
		{ "\xff"
		  "a\xc3",
		  "\"\xef\xbf\xbd"
		  "a\xef\xbf\xbd\"" },
		{ "c1 \xc2\x80\xc2\x9f\xc2\xa0", "\"c1 \\u0080\\u009f\xc2\xa0\"" },
		{ "\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ "a\xe2\x80\xae\xe2\x80\xa8", "\"a\\u202e\\u2028\"" },
		{ "\xf3\xa0\x81\x81", "\"\\udb40\\udc41\"" },
		{ NULL, "\"\"" },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = text_of(cases[i][0]);

		cr_assert_str_eq(text, cases[i][1]);
		free(text);
	}
}

/* Every byte that a string can contain is read back unchanged if it is UTF-8. */
Test(json, strings_survive)
{
	char string[128];
	struct error err = { "", "" };
	struct json_reader *json;
	struct input *in;
	cleanup_free char *again = NULL;
	cleanup_free char *text = NULL;
	int c;

	for (c = 1; c < 128; c++)
		string[c - 1] = (char)c;
	string[127] = '\0';
	text = text_of(string);
	in = input_of(text, strlen(text));
	json = json_reader_new(in, &err);
	cr_assert_eq(json_reader_string(json, &again), 0, "%s", err.text);
	cr_assert_str_eq(again, string);
	json_reader_free(json);
	input_close(in);
}

static void check_double(double value, const char *wanted)
{
	char text[64] = "";
	FILE *stream = fmemopen(text, sizeof(text), "w");

	json_text_double(stream, value);
	fclose(stream);
	cr_assert_str_eq(text, wanted);
}

Test(json, text_of_numbers)
{
	char text[64] = "";
	FILE *stream = fmemopen(text, sizeof(text), "w");

	json_text_u64(stream, 0);
	fputc(' ', stream);
	json_text_u64(stream, 1000);
	fputc(' ', stream);
	json_text_u64(stream, UINT64_MAX);
	fclose(stream);
	cr_assert_str_eq(text, "0 1000 18446744073709551615");
	check_double(997, "997");
	check_double(0.1, "0.1");
	check_double(996.99999999999989, "996.9999999999999");
	check_double(1e300, "1e+300");
	check_double(NAN, "0");
	check_double(INFINITY, "0");
	setlocale(LC_ALL, "de_DE.UTF-8");
	check_double(0.5, "0.5");
}
