// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "base/json_reader.h"

#include <endian.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* Numbers with so many digits fit 64 bits. */
#define MAX_DIGITS 19

struct json_reader {
	struct input *in;
	struct error *err;
	uint64_t line;
	size_t at;
	size_t filled;
	char *text; /* the last string or number, NUL-terminated */
	size_t length;
	size_t capacity;
	unsigned int depth;
	bool first; /* no element of the innermost container was read yet */
	char buffer[JSON_READER_BUFFER];
};

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

static int json_reader_no_memory(struct json_reader *json)
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

static int peek_slow(struct json_reader *json)
{
	int more = read_more(json);

	if (more <= 0)
		return more ? more : truncated(json);
	return (unsigned char)json->buffer[json->at];
}

/* Returns the next byte without consuming it, or a negative errno, also at the end. */
static inline int json_reader_peek(struct json_reader *json)
{
	if (json->at < json->filled)
		return (unsigned char)json->buffer[json->at];
	return peek_slow(json);
}

static int peek_token_slow(struct json_reader *json)
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

/* Skips white space, then peeks. */
static inline int json_reader_peek_token(struct json_reader *json)
{
	int c = json_reader_peek(json);

	return c > ' ' || c < 0 ? c : peek_token_slow(json);
}

/* Reports that c (a byte, or a failure of peek) was found where `wanted` should be. */
static int json_reader_unexpected(struct json_reader *json, int c, const char *wanted)
{
	if (c < 0)
		return c;
	if (c > 0x20 && c < 0x7f)
		return json_reader_fail(json, "'%c' where %s should be", c, wanted);
	return json_reader_fail(json, "byte 0x%02x where %s should be", (unsigned int)c, wanted);
}

static int keep_byte(struct json_reader *json, const char *bytes, size_t size)
{
	size_t need = json->length + size + 1;

	if (need > json->capacity && GROW(json->text, json->capacity, need))
		return json_reader_no_memory(json);
	memcpy(json->text + json->length, bytes, size);
	json->length += size;
	json->text[json->length] = '\0';
	return 0;
}

static int hex4(struct json_reader *json, uint32_t *result)
{
	uint32_t value = 0;
	int i;
	int c;

	for (i = 0; i < 4; i++) {
		c = json_reader_peek(json);
		if (c < 0 || hex_value((char)c) < 0)
			return json_reader_unexpected(json, c, "a hexadecimal digit");
		value = value * 16 + (uint32_t)hex_value((char)c);
		json->at++;
	}
	*result = value;
	return 0;
}

/* A high surrogate must be followed by \u and a low one. */
static int low_surrogate(struct json_reader *json, uint32_t *point)
{
	static const char escape[] = "\\u";
	uint32_t low = 0;
	size_t i;
	int ret;
	int c;

	for (i = 0; i < 2; i++) {
		c = json_reader_peek(json);
		if (c != escape[i])
			return json_reader_unexpected(json, c,
						      "the second half of a surrogate pair");
		json->at++;
	}
	ret = hex4(json, &low);
	if (ret)
		return ret;
	if (low < 0xdc00 || low > 0xdfff)
		return json_reader_fail(json, "half a surrogate pair");
	*point = 0x10000 + ((*point - 0xd800) << 10) + (low - 0xdc00);
	return 0;
}

static int keep_code_point(struct json_reader *json, uint32_t point)
{
	char bytes[4];
	size_t size;

	if (point < 0x80) {
		bytes[0] = (char)point;
		return keep_byte(json, bytes, 1);
	}
	size = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
	bytes[0] = (char)((0xf00 >> size) | (point >> (6 * (size - 1))));
	for (size_t i = 1; i < size; i++)
		bytes[i] = (char)(0x80 | ((point >> (6 * (size - 1 - i))) & 0x3f));
	return keep_byte(json, bytes, size);
}

static int unicode_escape(struct json_reader *json)
{
	uint32_t point = 0;
	int ret = hex4(json, &point);

	if (ret)
		return ret;
	/* No name of ours can contain a NUL, which would cut the string short. */
	if (!point)
		return json_reader_fail(json, "a NUL in a string");
	if (point >= 0xdc00 && point <= 0xdfff)
		return json_reader_fail(json, "half a surrogate pair");
	if (point >= 0xd800 && point <= 0xdbff) {
		ret = low_surrogate(json, &point);
		if (ret)
			return ret;
	}
	return keep_code_point(json, point);
}

/* Reads the rest of an escape. */
static int read_escape(struct json_reader *json)
{
	static const char from[] = "\"\\/bfnrt";
	static const char to[] = "\"\\/\b\f\n\r\t";
	int c = json_reader_peek(json);
	const char *found = c > 0 ? strchr(from, c) : NULL;

	if (c != 'u' && !found)
		return json_reader_unexpected(json, c, "an escape");
	json->at++;
	return found ? keep_byte(json, to + (found - from), 1) : unicode_escape(json);
}

/* Appends the buffer's next bytes that need no conversion, and ors their bits into *seen. */
static int plain_run(struct json_reader *json, unsigned char *seen)
{
	const char *start = json->buffer + json->at;
	size_t left = json->filled - json->at, size;
	unsigned char byte, bits = 0;

	for (size = 0; size < left; size++) {
		byte = (unsigned char)start[size];
		if (byte < 0x20 || byte == '"' || byte == '\\')
			break;
		bits |= byte;
	}
	*seen |= bits;
	json->at += size;
	return keep_byte(json, start, size);
}

static bool is_utf8(const char *text, size_t length)
{
	size_t size;

	while (length) {
		size = utf8_sequence(text, length);
		if (!size)
			return false;
		text += size;
		length -= size;
	}
	return true;
}

/* Reads the next string into json->text. */
static int json_reader_keep_string(struct json_reader *json)
{
	int c = json_reader_peek_token(json);
	unsigned char seen = 0;
	int ret;

	if (c != '"')
		return json_reader_unexpected(json, c, "a string");
	json->at++;
	json->length = 0;
	/*
	 * Nearly all strings are one such run, and a profile of a host has 7,000 of them per
	 * megabyte.
	 */
	ret = plain_run(json, &seen);
	while (!ret && (c = json_reader_peek(json)) != '"') {
		if (c < 0x20)
			return json_reader_unexpected(json, c, "the rest of a string");
		json->at += c == '\\';
		ret = c == '\\' ? read_escape(json) : plain_run(json, &seen);
	}
	if (ret)
		return ret;
	json->at++;
	/* Only plain bytes can be wrong: escapes are stored as valid UTF-8, and ASCII is UTF-8. */
	if (seen > 0x7f && !is_utf8(json->text, json->length))
		return json_reader_fail(json, "a string is not UTF-8");
	return 0;
}

int json_reader_string(struct json_reader *json, char **result)
{
	int ret = json_reader_keep_string(json);

	if (ret)
		return ret;
	*result = strdup(json->text);
	return *result ? 0 : json_reader_no_memory(json);
}

/* The same byte eight times. */
#define BYTES(byte) ((byte)*UINT64_C(0x0101010101010101))

/*
 * Reads up to eight digits at a place, and returns how many there are. There is no loop: at the end
 * of numbers with one to seven digits, its branch is mostly mispredicted.
 */
static inline size_t take_digits(const char *at, uint64_t *result)
{
	uint64_t bytes, others;
	size_t nr;

	memcpy(&bytes, at, sizeof(bytes));
	bytes = le64toh(bytes) ^ BYTES('0');
	others = ((bytes + BYTES(6)) | bytes) & BYTES(0xf0);
	nr = others ? (size_t)__builtin_ctzll(others) / 8 : sizeof(bytes);
	if (!nr)
		return 0;
	/* Leading zeros make it eight digits. Then combine pairs, then fours. */
	bytes <<= 8 * (sizeof(bytes) - nr);
	bytes = bytes * 10 + (bytes >> 8);
	*result = ((bytes & 0xff000000ff) * (100 + (UINT64_C(1000000) << 32)) +
		   (bytes >> 16 & 0xff000000ff) * (1 + (UINT64_C(10000) << 32))) >>
		  32;
	return nr;
}

/*
 * Returns the number of digits at a place, from which MAX_DIGITS + 1 bytes can be read. 0: there
 * are none, the first is 0, or the number could overflow.
 */
static inline size_t small_number(const char *at, uint64_t *result)
{
	size_t nr = take_digits(at, result);

	if (nr == 8)
		for (; at[nr] >= '0' && at[nr] <= '9' && nr < MAX_DIGITS; nr++)
			*result = *result * 10 + (uint64_t)(at[nr] - '0');
	return nr == MAX_DIGITS || (nr > 1 && *at == '0') ? 0 : nr;
}

/* Reads the next number if it has too few digits to overflow. */
static bool take_small(struct json_reader *json, uint64_t *result)
{
	uint64_t value = 0;
	size_t nr = 0;

	if (json->filled - json->at > MAX_DIGITS)
		nr = small_number(json->buffer + json->at, &value);
	if (nr)
		*result = value;
	json->at += nr;
	return nr > 0;
}

/* Reads digits only. If a fraction or exponent follows, reading the next token fails. */
int json_reader_u64(struct json_reader *json, uint64_t *result)
{
	int c = json_reader_peek_token(json);
	uint64_t value = 0;
	unsigned int digits = 0;

	if (c < '0' || c > '9')
		return json_reader_unexpected(json, c, "a whole number that is not negative");
	if (take_small(json, result))
		return 0;
	for (; c >= '0' && c <= '9'; digits++) {
		if (digits && !value)
			return json_reader_fail(json, "a number starts with 0");
		if (__builtin_mul_overflow(value, 10U, &value) ||
		    __builtin_add_overflow(value, (unsigned int)(c - '0'), &value))
			return json_reader_fail(json, "a number is above 2^64 - 1");
		json->at++;
		if (json->at < json->filled)
			c = (unsigned char)json->buffer[json->at];
		else
			c = json_reader_peek(json);
	}
	/* A number is never the last token, because its container must end. */
	if (c < 0)
		return c;
	*result = value;
	return 0;
}

/*
 * Reads [number,number] before end. Returns the text after it; NULL: it is something else, or may
 * continue beyond the end.
 */
static const char *take_pair(const char *at, const char *end, uint64_t pair[2])
{
	size_t nr;

	if (end - at < 2 * MAX_DIGITS + 3 || *at++ != '[')
		return NULL;
	nr = small_number(at, &pair[0]);
	at += nr;
	if (!nr || *at++ != ',')
		return NULL;
	nr = small_number(at, &pair[1]);
	at += nr;
	return nr && *at == ']' ? at + 1 : NULL;
}

size_t json_reader_pairs(struct json_reader *json, uint64_t (*pairs)[2], size_t max)
{
	const char *at = json->buffer + json->at, *end = json->buffer + json->filled;
	size_t nr = 0;

	/* at is at the pair, or at the comma before it. */
	while (nr < max && (!nr || *at == ',')) {
		const char *after = take_pair(at + !!nr, end, pairs[nr]);

		if (!after)
			break;
		at = after;
		nr++;
	}
	json->at = (size_t)(at - json->buffer);
	return nr;
}

int json_reader_i64(struct json_reader *json, int64_t *result)
{
	int c = json_reader_peek_token(json);
	bool negative = c == '-';
	uint64_t value;
	int ret;

	if (negative) {
		json->at++;
		/* No white space may be between the sign and its digits. */
		c = json_reader_peek(json);
		if (c < '0' || c > '9')
			return json_reader_unexpected(json, c, "a digit");
	}
	ret = json_reader_u64(json, &value);
	if (ret)
		return ret;
	if (value > INT64_MAX)
		return json_reader_fail(json, "a number is beyond 2^63 - 1");
	*result = negative ? -(int64_t)value : (int64_t)value;
	return 0;
}

/* Appends one or more digits to json->text. */
static int keep_digits(struct json_reader *json)
{
	size_t before = json->length;
	char digit;
	int ret;
	int c;

	for (c = json_reader_peek(json); c >= '0' && c <= '9'; c = json_reader_peek(json)) {
		digit = (char)c;
		ret = keep_byte(json, &digit, 1);
		if (ret)
			return ret;
		json->at++;
	}
	return json->length > before && c >= 0 ? 0 : json_reader_unexpected(json, c, "a digit");
}

/* Appends the next byte if it is in set; *ret is whether it was. */
static int keep_if(struct json_reader *json, const char *set, bool *ret)
{
	int c = json_reader_peek(json);
	char byte = (char)c;

	if (c < 0)
		return c;
	*ret = c && strchr(set, c);
	if (!*ret)
		return 0;
	json->at++;
	return keep_byte(json, &byte, 1);
}

static int json_reader_keep_number(struct json_reader *json)
{
	bool taken = false;
	int ret;

	json->length = 0;
	ret = json_reader_peek_token(json);
	if (ret >= 0)
		ret = keep_if(json, "-", &taken);
	if (!ret)
		ret = keep_digits(json);
	if (!ret && json->text[taken] == '0' && json->length > 1U + taken)
		return json_reader_fail(json, "a number starts with 0");
	if (!ret)
		ret = keep_if(json, ".", &taken);
	if (!ret && taken)
		ret = keep_digits(json);
	if (!ret)
		ret = keep_if(json, "eE", &taken);
	if (!ret && taken) {
		ret = keep_if(json, "+-", &taken);
		if (!ret)
			ret = keep_digits(json);
	}
	return ret;
}

int json_reader_double(struct json_reader *json, double *result)
{
	double value;
	bool negative;
	int ret = json_reader_keep_number(json);

	if (ret)
		return ret;
	negative = json->text[0] == '-';
	ret = parse_double(json->text + negative, &value);
	if (ret == -ENOMEM)
		return json_reader_no_memory(json);
	if (ret)
		return json_reader_fail(json, "a number is too large");
	*result = negative ? -value : value;
	return 0;
}

static int read_word(struct json_reader *json, const char *word)
{
	int c;

	for (; *word; word++) {
		c = json_reader_peek(json);
		if (c != *word)
			return json_reader_unexpected(json, c, "true, false or null");
		json->at++;
	}
	return 0;
}

int json_reader_bool(struct json_reader *json, bool *result)
{
	int c = json_reader_peek_token(json);
	int ret;

	if (c != 't' && c != 'f')
		return json_reader_unexpected(json, c, "true or false");
	ret = read_word(json, c == 't' ? "true" : "false");
	if (!ret)
		*result = c == 't';
	return ret;
}

int json_reader_null(struct json_reader *json)
{
	int c = json_reader_peek_token(json);
	int ret;

	if (c < 0)
		return c;
	if (c != 'n')
		return 0;
	ret = read_word(json, "null");
	return ret ? ret : 1;
}

#define MAX_DEPTH 64

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

/* Returns 1 if an element follows, 0 if the container ended. Only the next token shows which. */
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
 * Takes one step into, through or out of a container. kinds has a bit for each level, set for an
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
