// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "elf/mapped_file.h"
#include "symbol/jit_dump.h"
#include "symbol/symbol_table.h"
#include "symbol/text_symbols.h"

/* The profiled program writes the map, so it may hold anything and have any length. */
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
	int ret = 0;

	while (!ret && text_next_line(&rest, &line)) {
		struct symbol_spec spec = { 0 };

		/* The program may be writing, so an incomplete last line is left out. */
		if (perf_map_line(&line, &spec))
			ret = symbol_table_add(table, &spec);
	}
	return ret;
}

static int finish_map(int code, struct symbol_table *table, struct symbol_table **result,
		      struct error *err)
{
	if (!code)
		code = symbol_table_finish(table);
	if (code) {
		symbol_table_free(table);
		return symbol_table_failure(code, "a perf map", err);
	}
	*result = table;
	return 0;
}

/* The name of some code, for when the code moves. */
struct loaded {
	uint64_t index;
	const char *name;
	size_t name_length;
};

static int compare_loaded(const void *left, const void *right)
{
	const struct loaded *a = left, *b = right;

	return (a->index > b->index) - (a->index < b->index);
}

static int remember(void **loaded, const struct jit_record *record)
{
	struct loaded **found, *fresh = malloc(sizeof(*fresh));

	if (!fresh)
		return -ENOMEM;
	*fresh = (struct loaded){ record->index, record->name, record->name_length };
	found = tsearch(fresh, loaded, compare_loaded);
	if (found && *found == fresh)
		return 0;
	if (found)
		**found = *fresh;
	free(fresh);
	return found ? 0 : -ENOMEM;
}

static int add_jit_record(struct symbol_table *table, void **loaded, struct jit_record *record)
{
	struct loaded key = { .index = record->index }, **found;
	struct symbol_spec spec = { .offset = record->start, .size = record->size };
	int ret;

	if (record->kind == JIT_OTHER)
		return 0;
	if (record->kind == JIT_LOAD) {
		ret = remember(loaded, record);
		if (ret)
			return ret;
	}
	found = tfind(&key, loaded, compare_loaded);
	if (!found || !spec.size || !(*found)->name_length)
		return 0;
	spec.name = (*found)->name;
	spec.name_length = (*found)->name_length;
	return symbol_table_add(table, &spec);
}

/* An incomplete record at the end is still being written. */
static int add_dump(struct symbol_table *table, const char *bytes, size_t nr, size_t at)
{
	struct jit_record record;
	void *loaded = NULL;
	ssize_t length;
	int ret = 0;

	while (!ret && at < nr && (length = jit_dump_record(bytes + at, nr - at, &record)) > 0) {
		at += (size_t)length;
		if (at <= nr)
			ret = add_jit_record(table, &loaded, &record);
	}
	tdestroy(loaded, free);
	return ret;
}

static int add_bytes(struct symbol_table *table, const char *bytes, size_t nr)
{
	bool has_time;
	size_t header = jit_dump_header(bytes, nr, &has_time);

	return header ? add_dump(table, bytes, nr, header) : add_map(table, bytes, nr);
}

int perf_map_parse(const char *text, size_t size, struct symbol_table **result, struct error *err)
{
	struct symbol_table *table = symbol_table_new(SYMBOL_LATEST);

	return finish_map(table ? add_bytes(table, text, size) : -ENOMEM, table, result, err);
}

static int add_perf_map(struct symbol_table *table, int fd, uint64_t limit, struct error *err)
{
	struct mapped_file file;
	struct stat st;
	int ret;

	if (fstat(fd, &st))
		return error_errno(err, -errno, "perf map");
	if ((uint64_t)st.st_size > PERF_MAP_MAX)
		return error_errno(err, -EFBIG, "perf map");
	ret = mapped_file_open(fd, &file);
	if (ret)
		return error_errno(err, ret, "perf map");
	ret = add_bytes(table, (const char *)file.bytes,
			file.size < limit ? file.size : (size_t)limit);
	mapped_file_close(&file);
	return ret ? symbol_table_failure(ret, "a perf map", err) : 0;
}

int symbol_table_load_perf_map(int fd, uint64_t limit, int places, struct symbol_table **result,
			       struct error *err)
{
	struct symbol_table *table = symbol_table_new(SYMBOL_LATEST);
	int ret;

	if (!table)
		return symbol_table_failure(-ENOMEM, "a perf map", err);
	ret = add_perf_map(table, fd, limit, err);
	if (!ret && places >= 0)
		ret = add_perf_map(table, places, UINT64_MAX, err);
	if (!ret)
		return finish_map(0, table, result, err);
	symbol_table_free(table);
	return ret;
}
