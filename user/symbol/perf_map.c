// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/symbol_table.h"
#include "symbol/text_symbols.h"

/* A map is written by the profiled program: it may be anything, and of any length. */
#define PERF_MAP_MAX (512UL << 20)

bool perf_map_line(struct text_cursor *line, struct symbol_spec *spec)
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

static int add_map(struct symbol_table *table, const char *text, size_t size)
{
	struct text_cursor rest = { text, text + size }, line;
	int code = 0;

	while (!code && text_next_line(&rest, &line)) {
		struct symbol_spec spec = { 0 };

		/* The program may be writing: what is not yet a whole entry is left out. */
		if (perf_map_line(&line, &spec))
			code = symbol_table_add(table, &spec);
	}
	return code;
}

static int finish_map(int code, struct symbol_table *table, struct symbol_table **ret,
		      struct error *err)
{
	if (!code)
		code = symbol_table_finish(table);
	if (code) {
		symbol_table_free(table);
		return symbol_table_failure(code, "a perf map", err);
	}
	*ret = table;
	return 0;
}

int perf_map_parse(const char *text, size_t size, struct symbol_table **ret, struct error *err)
{
	struct symbol_table *table = symbol_table_new(SYMBOL_LATEST);

	return finish_map(table ? add_map(table, text, size) : -ENOMEM, table, ret, err);
}

static int add_file(struct symbol_table *table, int fd, struct error *err)
{
	char *text;
	size_t size;
	int code;

	code = text_read_file(fd, PERF_MAP_MAX, &text, &size);
	if (code)
		return error_errno(err, code, "perf map");
	code = add_map(table, text, size);
	free(text);
	return code ? symbol_table_failure(code, "a perf map", err) : 0;
}

int symbol_table_load_perf_map(int fd, int places, struct symbol_table **ret, struct error *err)
{
	struct symbol_table *table = symbol_table_new(SYMBOL_LATEST);
	int code;

	if (!table)
		return symbol_table_failure(-ENOMEM, "a perf map", err);
	code = add_file(table, fd, err);
	if (!code && places >= 0)
		code = add_file(table, places, err);
	if (!code)
		return finish_map(0, table, ret, err);
	symbol_table_free(table);
	return code;
}
