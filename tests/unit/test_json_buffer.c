// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * The JSON reader has separate code for what crosses the end of its buffer: wherever that end is, a
 * text must mean the same as in one buffer.
 */
#include "base/json_reader.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * What the reader makes of size bytes of text that begin this far before the end of its first
 * buffer, with only blanks before them; 0: all in one buffer.
 */
static struct input *input_at(const char *text, size_t size, size_t before_end)
{
	size_t spaces = before_end ? JSON_READER_BUFFER - before_end : 0;
	int fd = memfd_create("json", MFD_CLOEXEC);
	char *all = malloc(spaces + size);
	struct input *in = NULL;

	cr_assert(fd >= 0 && all && size < JSON_READER_BUFFER);
	memset(all, ' ', spaces);
	memcpy(all + spaces, text, size);
	cr_assert_eq(write(fd, all, spaces + size), (ssize_t)(spaces + size));
	cr_assert_eq(lseek(fd, 0, SEEK_SET), 0);
	cr_assert_eq(input_open_fd(fd, "text", &in, NULL), 0);
	free(all);
	return in;
}

static int tell_string(struct json_reader *json, FILE *out)
{
	char *string = NULL;
	int ret = json_reader_string(json, &string);

	if (!ret)
		fprintf(out, "%s", string);
	free(string);
	return ret;
}

static int tell_number(struct json_reader *json, FILE *out)
{
	uint64_t number = 0;
	int ret = json_reader_u64(json, &number);

	if (!ret)
		fprintf(out, "%" PRIu64, number);
	return ret;
}

static int tell_real(struct json_reader *json, FILE *out)
{
	double number = 0;
	int ret = json_reader_double(json, &number);

	if (!ret)
		fprintf(out, "%g", number);
	return ret;
}

static int tell_word(struct json_reader *json, FILE *out)
{
	bool is_true = false;
	int ret = json_reader_null(json);

	if (ret)
		return ret < 0 ? ret : fprintf(out, "null") < 0;
	ret = json_reader_bool(json, &is_true);
	if (!ret)
		fprintf(out, "%s", is_true ? "true" : "false");
	return ret;
}

/* The first letter of a member's name says what its value is. */
static int tell_value(struct json_reader *json, char kind, FILE *out)
{
	switch (kind) {
	case 's':
		return tell_string(json, out);
	case 'n':
		return tell_number(json, out);
	case 'r':
		return tell_real(json, out);
	case 'w':
		return tell_word(json, out);
	default:
		return json_reader_skip(json);
	}
}

/* A line for each member, or the reader's error. */
static char *tell(const char *text, size_t size, size_t before_end)
{
	struct input *in = input_at(text, size, before_end);
	struct error err = { "", "" };
	struct json_reader *json = json_reader_new(in, &err);
	char *told = NULL;
	size_t length;
	FILE *out = open_memstream(&told, &length);
	const char *key;
	int ret = json_reader_object(json);

	while (!ret && (ret = json_reader_member(json, &key)) == 1) {
		fprintf(out, "%s=", key);
		ret = tell_value(json, *key, out);
		fputc('\n', out);
	}
	if (!ret)
		ret = json_reader_end(json);
	if (ret)
		fprintf(out, "%s", err.text);
	fclose(out);
	json_reader_free(json);
	input_close(in);
	return told;
}

static void check_everywhere(const char *text, const char *expected)
{
	size_t size = strlen(text), before_end;

	/* With the end of the text at the end of the buffer, and behind it. */
	for (before_end = 0; before_end <= size + 1; before_end++) {
		char *told = tell(text, size, before_end);

		cr_assert_str_eq(told, expected, "%s, %zu bytes before the end: %s", text,
				 before_end, told);
		free(told);
	}
}

Test(json_buffer, values)
{
	check_everywhere(
		"{\"s\": \"plain\", \"s \\\"\\u00e9\": \"\", \"s2\":\"\\\\a\\n\\ud83d\\ude00z\"}",
		"s=plain\ns \"\xc3\xa9=\ns2=\\a\n\xf0\x9f\x98\x80z\n");
	check_everywhere(
		"{\"s\xc3\xa9\":\"caf\xc3\xa9 \xe2\x82\xac\",\"s\":\"\xf0\x9f\x98\x80\\/\xc3\xa9\\u0041\"}",
		"s\xc3\xa9=caf\xc3\xa9 \xe2\x82\xac\ns=\xf0\x9f\x98\x80/\xc3\xa9"
		"A\n");
	check_everywhere("{\"n\":0,\"n\":7 ,\"n\": 1234567890123456789,\"n\":18446744073709551615}",
			 "n=0\nn=7\nn=1234567890123456789\nn=18446744073709551615\n");
	check_everywhere("{\"r\":-12.5e+3,\"r\":0.25 , \"w\":true,\"w\":null,\n\"w\" :false}\n",
			 "r=-12500\nr=0.25\nw=true\nw=null\nw=false\n");
	check_everywhere("{\"k\":[{\"\\u00e9\":[1,-2e5,\"\xc3\xa9\"]},null,[]],\"n\":12}",
			 "k=\nn=12\n");
}

Test(json_buffer, refusals)
{
	check_everywhere("{\"s\":\"a\xc3\"}", "s=\ntext: line 1: a string is not UTF-8");
	check_everywhere("{\"s\":\"\xc3\\u00e9\"}", "s=\ntext: line 1: a string is not UTF-8");
	check_everywhere("{\"s\":\"plain\xff"
			 "plain\"}",
			 "s=\ntext: line 1: a string is not UTF-8");
	check_everywhere("{\n\"s\":\"plain\nplain\"}",
			 "s=\ntext: line 2: byte 0x0a where the rest of a string should be");
	check_everywhere("{\"s\":\"plain\\q\"}", "s=\ntext: line 1: 'q' where an escape should be");
	check_everywhere("{\"n\":18446744073709551616}",
			 "n=\ntext: line 1: a number is above 2^64 - 1");
	check_everywhere("{\"n\":00}", "n=\ntext: line 1: a number starts with 0");
	check_everywhere("{\"n\":12.5}", "n=12\ntext: line 1: '.' where ',' or '}' should be");
}

/* Cut at the end of a buffer, it is as truncated as anywhere. */
Test(json_buffer, every_prefix_is_truncated)
{
	static const char text[] =
		"{\"s\\u00e9\":\"\xc3\xa9 plain\",\"n\":1234567,\"r\":1.5e2,\"w\":true}";
	size_t size;

	for (size = 1; size < sizeof(text) - 1; size++) {
		char *in_one = tell(text, size, 0), *at_end = tell(text, size, size);

		cr_assert_not_null(strstr(in_one, "text: truncated"), "%s", in_one);
		cr_assert_str_eq(at_end, in_one, "%.*s", (int)size, text);
		free(in_one);
		free(at_end);
	}
}
