// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "reader/wire.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

void wire_put(struct wire *wire, const void *bytes, size_t size)
{
	wire->bad = wire->bad || GROW(wire->bytes, wire->room, wire->nr + size);
	if (wire->bad || !size)
		return;
	memcpy(wire->bytes + wire->nr, bytes, size);
	wire->nr += size;
}

void wire_put_u64(struct wire *wire, uint64_t value)
{
	wire_put(wire, &value, sizeof(value));
}

void wire_put_text(struct wire *wire, const char *text)
{
	wire_put(wire, text ? text : "", text ? strlen(text) + 1 : 1);
}

const void *wire_get(struct wire *wire, size_t size)
{
	const void *at;

	wire->bad = wire->bad || size > wire->nr - wire->at;
	if (wire->bad)
		return NULL;
	if (!size)
		return "";
	at = wire->bytes + wire->at;
	wire->at += size;
	return at;
}

uint64_t wire_get_u64(struct wire *wire)
{
	uint64_t value = 0;
	const void *at = wire_get(wire, sizeof(value));

	if (at)
		memcpy(&value, at, sizeof(value));
	return value;
}

const char *wire_get_text(struct wire *wire)
{
	const size_t left = wire->nr - wire->at;
	const char *at;
	size_t length;

	wire->bad = wire->bad || !left;
	if (wire->bad)
		return "";
	at = (const char *)wire->bytes + wire->at;
	length = strnlen(at, left);
	wire->bad = length == left;
	if (wire->bad)
		return "";
	wire->at += length + 1;
	return at;
}

size_t wire_get_count(struct wire *wire, size_t size)
{
	const uint64_t nr = wire_get_u64(wire);

	wire->bad = wire->bad || nr > (wire->nr - wire->at) / size;
	return wire->bad ? 0 : (size_t)nr;
}

void wire_put_array(struct wire *wire, const void *array, size_t nr, size_t size)
{
	wire_put_u64(wire, nr);
	wire_put(wire, array, nr * size);
}

void *wire_get_array(struct wire *wire, size_t *nr, size_t size)
{
	const void *at;
	void *copy;

	*nr = wire_get_count(wire, size);
	at = wire_get(wire, *nr * size);
	copy = at ? malloc(*nr * size + 1) : NULL;
	wire->bad = !copy;
	if (copy && *nr)
		memcpy(copy, at, *nr * size);
	return copy;
}

char *wire_get_copy(struct wire *wire)
{
	const char *text = wire_get_text(wire);
	char *copy = *text ? strdup(text) : NULL;

	wire->bad = wire->bad || (*text && !copy);
	return copy;
}

void wire_free(struct wire *wire)
{
	free(wire->bytes);
	*wire = (struct wire){ 0 };
}
