// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/text_symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"

bool text_next_line(struct text_cursor *text, struct text_cursor *line)
{
	const char *newline;

	if (text->at == text->end)
		return false;
	newline = memchr(text->at, '\n', (size_t)(text->end - text->at));
	line->at = text->at;
	line->end = newline ? newline : text->end;
	text->at = newline ? newline + 1 : text->end;
	return true;
}

bool text_take_hex(struct text_cursor *line, uint64_t *result)
{
	const char *at = line->at, *first;
	uint64_t value = 0;

	if (line->end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
		at += 2;
	for (first = at; at < line->end && hex_value(*at) >= 0; at++) {
		if (value >> 60)
			return false;
		value = value << 4 | (uint64_t)hex_value(*at);
	}
	if (at == first || (at < line->end && *at != ' ' && *at != '\t'))
		return false;
	while (at < line->end && (*at == ' ' || *at == '\t'))
		at++;
	line->at = at;
	*result = value;
	return true;
}

int text_read_file(int fd, size_t limit, char **result, size_t *size)
{
	size_t room = 0, used = 0;
	char *text = NULL;
	ssize_t got = 0;
	int ret = 0;

	do {
		ret = used < limit ? grow((void **)&text, &room, used + 65536, 1) : -EFBIG;
		if (ret)
			break;
		got = pread(fd, text + used, room - used, (off_t)used);
		if (got < 0)
			ret = -errno;
		else
			used += (size_t)got;
	} while (!ret && got);
	if (ret) {
		free(text);
		return ret;
	}
	*result = text;
	*size = used;
	return 0;
}
