// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "base/json_reader_impl.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 64

struct json_reader *json_reader_new(struct input *in, struct error *err)
{
	struct json_reader *json = malloc(sizeof(*json));

	if (!json)
		return NULL;
	memset(json, 0, offsetof(struct json_reader, buffer));
	json->in = in;
	json->err = err;
	json->line = 1;
	return json;
}

void json_reader_free(struct json_reader *json)
{
	if (!json)
		return;
	free(json->text);
	free(json);
}

int json_reader_fail(struct json_reader *json, const char *format, ...)
{
	char why[256];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	return error_set(json->err, -EBADMSG, "%s: line %llu: %s", input_name(json->in),
			 (unsigned long long)json->line, why);
}

int json_reader_no_memory(struct json_reader *json)
{
	return error_errno(json->err, -ENOMEM, "%s", input_name(json->in));
}

static int truncated(struct json_reader *json)
{
	return error_set(json->err, -ENODATA, "%s: truncated", input_name(json->in));
}

/* Makes buffer[at] valid. Returns 1, 0 at the end of the text, or a negative errno. */
static int read_more(struct json_reader *json)
{
	ssize_t done;

	if (json->at < json->filled)
		return 1;
	done = input_read(json->in, json->buffer, sizeof(json->buffer), json->err);
	if (done <= 0)
		return (int)done;
	json->at = 0;
	json->filled = (size_t)done;
	return 1;
}

int json_reader_peek_slow(struct json_reader *json)
{
	int more = read_more(json);

	if (more <= 0)
		return more ? more : truncated(json);
	return (unsigned char)json->buffer[json->at];
}

int json_reader_peek_token_slow(struct json_reader *json)
{
	int c;

	for (;;) {
		c = json_reader_peek(json);
		if (c != ' ' && c != '\n' && c != '\t' && c != '\r')
			return c;
		if (c == '\n')
			json->line++;
		json->at++;
	}
}

int json_reader_unexpected(struct json_reader *json, int c, const char *wanted)
{
	if (c < 0)
		return c;
	if (c > 0x20 && c < 0x7f)
		return json_reader_fail(json, "'%c' where %s should be", c, wanted);
	return json_reader_fail(json, "byte 0x%02x where %s should be", (unsigned int)c, wanted);
}

static int enter(struct json_reader *json, char bracket, const char *wanted)
{
	int c = json_reader_peek_token(json);

	if (c != bracket)
		return json_reader_unexpected(json, c, wanted);
	if (json->depth == MAX_DEPTH)
		return json_reader_fail(json, "nested deeper than %d", MAX_DEPTH);
	json->at++;
	json->depth++;
	json->first = true;
	return 0;
}

int json_reader_object(struct json_reader *json)
{
	return enter(json, '{', "an object");
}

int json_reader_array(struct json_reader *json)
{
	return enter(json, '[', "an array");
}

/* Returns 1 if an element follows, 0 if the container ended; only the comma shows which. */
static int next_of(struct json_reader *json, char bracket)
{
	int c = json_reader_peek_token(json);

	if (c == bracket) {
		json->at++;
		json->depth--;
		json->first = false;
		return 0;
	}
	if (json->first) {
		json->first = false;
		return c < 0 ? c : 1;
	}
	if (c != ',')
		return json_reader_unexpected(json, c,
					      bracket == ']' ? "',' or ']'" : "',' or '}'");
	json->at++;
	return 1;
}

int json_reader_element(struct json_reader *json)
{
	return next_of(json, ']');
}

int json_reader_member(struct json_reader *json, const char **key)
{
	int ret = next_of(json, '}');
	int c;

	if (ret <= 0)
		return ret;
	ret = json_reader_keep_string(json);
	if (ret)
		return ret;
	c = json_reader_peek_token(json);
	if (c != ':')
		return json_reader_unexpected(json, c, "':'");
	json->at++;
	*key = json->text;
	return 1;
}

static int skip_scalar(struct json_reader *json, int c)
{
	bool value;
	int ret;

	switch (c) {
	case '"':
		return json_reader_keep_string(json);
	case 't':
	case 'f':
		return json_reader_bool(json, &value);
	case 'n':
		ret = json_reader_null(json);
		return ret < 0 ? ret : 0;
	default:
		if (c != '-' && (c < '0' || c > '9'))
			return json_reader_unexpected(json, c, "a value");
		return json_reader_keep_number(json);
	}
}

/*
 * Takes one step into, through or out of a container; kinds has a bit set for each level that is an
 * object.
 */
static int skip_step(struct json_reader *json, unsigned int base, uint64_t *kinds)
{
	const char *key;
	int ret = 1;
	int c;

	if (json->depth > base) {
		bool object = *kinds >> (json->depth - 1) & 1;

		ret = object ? json_reader_member(json, &key) : json_reader_element(json);
		if (ret <= 0)
			return ret;
	}
	c = json_reader_peek_token(json);
	if (c != '{' && c != '[')
		return skip_scalar(json, c);
	ret = c == '{' ? json_reader_object(json) : json_reader_array(json);
	if (ret)
		return ret;
	*kinds &= ~(1ULL << (json->depth - 1));
	*kinds |= (uint64_t)(c == '{') << (json->depth - 1);
	return 0;
}

int json_reader_skip(struct json_reader *json)
{
	unsigned int base = json->depth;
	uint64_t kinds = 0;
	int ret;

	do
		ret = skip_step(json, base, &kinds);
	while (!ret && json->depth > base);
	return ret;
}

int json_reader_end(struct json_reader *json)
{
	int more;
	int c = 0;

	while ((more = read_more(json)) > 0) {
		c = (unsigned char)json->buffer[json->at];
		if (c != ' ' && c != '\n' && c != '\t' && c != '\r')
			break;
		json->at++;
	}
	return more <= 0 ? more : json_reader_unexpected(json, c, "the end");
}
