// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "profile/fields.h"

#include <errno.h>
#include <string.h>

#include "base/util.h"

int read_no_memory(struct reader *r)
{
	return error_errno(r->err, -ENOMEM, "%s", input_name(r->in));
}

int read_copy(struct reader *r, const char *text, char **result)
{
	*result = strdup(text);
	return *result ? 0 : read_no_memory(r);
}

/* The search begins at the next field, because our own writer has the keys in the table's order. */
static size_t find_field(const struct field *fields, const char *key, size_t next)
{
	size_t i = 0;

	if (fields[next].key && !strcmp(fields[next].key, key))
		return next;
	while (fields[i].key && strcmp(fields[i].key, key) != 0)
		i++;
	return i;
}

static int read_field(struct reader *r, const struct field *field, char *base)
{
	void *member = base + field->offset, *nr = base + field->nr_offset;

	return field->size ? read_list(r, member, nr, field->size, field->read) :
			     field->read(r, member);
}

int read_fields(struct reader *r, const struct field *fields, void *base)
{
	uint64_t seen = 0;
	const char *key;
	size_t i, next = 0;
	int ret;

	ret = json_reader_object(r->json);
	if (ret)
		return ret;
	while ((ret = json_reader_member(r->json, &key)) > 0) {
		i = find_field(fields, key, next);
		if (!fields[i].key)
			ret = json_reader_skip(r->json);
		else if (seen >> i & 1)
			ret = json_reader_fail(r->json, "\"%s\" stands there twice", fields[i].key);
		else
			ret = read_field(r, &fields[i], base);
		if (ret)
			return ret;
		if (fields[i].key)
			seen |= 1ULL << i;
		next = fields[i].key ? i + 1 : next;
	}
	for (i = 0; !ret && fields[i].key; i++)
		if (!fields[i].optional && !(seen >> i & 1))
			ret = json_reader_fail(r->json, "\"%s\" is missing", fields[i].key);
	return ret;
}

int read_list(struct reader *r, void **list, size_t *nr, size_t size,
	      int (*read)(struct reader *r, void *element))
{
	size_t capacity = 0;
	char *elements;
	int ret;

	ret = json_reader_array(r->json);
	if (ret)
		return ret;
	while ((ret = json_reader_element(r->json)) > 0) {
		if (grow(list, &capacity, *nr + 1, size))
			return read_no_memory(r);
		memcpy(&elements, list, sizeof(elements));
		memset(elements + *nr * size, 0, size);
		*nr += 1;
		ret = read(r, elements + (*nr - 1) * size);
		if (ret)
			return ret;
	}
	return ret;
}

int read_u64(struct reader *r, void *member)
{
	return json_reader_u64(r->json, member);
}

int read_u32(struct reader *r, void *member)
{
	uint32_t *result = member;
	uint64_t value;
	int ret;

	ret = json_reader_u64(r->json, &value);
	if (ret)
		return ret;
	if (value > UINT32_MAX)
		return json_reader_fail(r->json, "a number is above 2^32 - 1");
	*result = (uint32_t)value;
	return 0;
}

int read_double(struct reader *r, void *member)
{
	double *result = member;
	int ret;

	ret = json_reader_double(r->json, result);
	if (!ret && *result < 0)
		ret = json_reader_fail(r->json, "a rate is negative");
	return ret;
}

int read_bool(struct reader *r, void *member)
{
	return json_reader_bool(r->json, member);
}

int read_string(struct reader *r, void *member)
{
	return json_reader_string(r->json, member);
}

int read_string_or_null(struct reader *r, void *member)
{
	int ret = json_reader_null(r->json);

	return ret ? (ret < 0 ? ret : 0) : json_reader_string(r->json, member);
}

int read_pid(struct reader *r, void *member)
{
	int64_t *result = member;
	uint64_t value;
	int ret;

	*result = -1;
	ret = json_reader_null(r->json);
	if (ret)
		return ret < 0 ? ret : 0;
	ret = json_reader_u64(r->json, &value);
	if (ret)
		return ret;
	if (value > INT32_MAX)
		return json_reader_fail(r->json, "a pid is above 2^31 - 1");
	*result = (int64_t)value;
	return 0;
}
