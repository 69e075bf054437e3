// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/symbol_table.h"
#include "symbol/text_symbols.h"

/* A map is written by the profiled program: it may be anything, and of any length. */
#define PERF_MAP_MAX (512UL << 20)

/* START SIZE NAME, hexadecimal; NAME is the rest of the line. False: not such a line. */
static bool parse_line(struct text_cursor *line, struct symbol_spec *spec)
{
	const char *nul;

	if (!text_take_hex(line, &spec->offset) || !text_take_hex(line, &spec->size))
		return false;
	nul = memchr(line->at, '\0', (size_t)(line->end - line->at));
	if (nul)
		line->end = nul;
	while (line->end > line->at && (line->end[-1] == '\r' || line->end[-1] == ' '))
		line->end--;
	spec->name = line->at;
	spec->name_length = (size_t)(line->end - line->at);
	return spec->size && spec->name_length;
}

int perf_map_parse(const char *text, size_t size, struct symbol_table **ret, struct error *err)
{
	struct text_cursor rest = { text, text + size }, line;
	struct symbol_table *table;
	int code = -ENOMEM;

	table = symbol_table_new(SYMBOL_LATEST);
	if (!table)
		goto fail;
	while (text_next_line(&rest, &line)) {
		struct symbol_spec spec = { 0 };

		/* The program may be writing: what is not yet a whole entry is left out. */
		if (!parse_line(&line, &spec))
			continue;
		code = symbol_table_add(table, &spec);
		if (code)
			goto fail;
	}
	code = symbol_table_finish(table);
	if (code)
		goto fail;
	*ret = table;
	return 0;
fail:
	symbol_table_free(table);
	return symbol_table_failure(code, "a perf map", err);
}

int symbol_table_load_perf_map(int fd, struct symbol_table **ret, struct error *err)
{
	char *text;
	size_t size;
	int code;

	code = text_read_file(fd, PERF_MAP_MAX, &text, &size);
	if (code)
		return error_errno(err, code, "perf map");
	code = perf_map_parse(text, size, ret, err);
	free(text);
	return code;
}
