// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "elf/mapped_file.h"
#include "symbol/jit_dump.h"
#include "symbol/symbol_table.h"

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

static bool text_read_hex(struct text_cursor *line, uint64_t *result)
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

/*
 * Reads at most limit bytes from a file's start, whatever its position; the caller frees *result.
 */
static int text_read_file(int fd, size_t limit, char **result, size_t *size)
{
	size_t room = 0, used = 0;
	char *text = NULL;
	ssize_t got = 0;
	int ret = 0;

	do {
		ret = used < limit ? GROW(text, room, used + 65536) : -EFBIG;
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

#define KALLSYMS_MAX (512UL << 20)

/*
 * kallsyms has no sizes. No kernel function is longer than this. Without a limit, the last function
 * of a module would reach to the next module.
 */
#define FUNCTION_MAX (1UL << 20)

#define NAME_ROOM 1024 /* the kernel's KSYM_NAME_LEN is 512 */

struct kallsyms_line {
	uint64_t address;
	char type;
	char name[NAME_ROOM]; /* "name" or "name [module]" */
	size_t length;
};

/* Parses ADDRESS TYPE NAME, which for a module is followed by a tab and [MODULE]. */
static bool parse_line(struct text_cursor *line, struct kallsyms_line *result)
{
	const char *c;

	if (!text_read_hex(line, &result->address))
		return false;
	if (line->end - line->at < 3 || line->at[1] != ' ')
		return false;
	result->type = line->at[0];
	result->length = 0;
	for (c = line->at + 2; c < line->end && *c && result->length < NAME_ROOM; c++)
		result->name[result->length++] = *c == '\t' ? ' ' : *c;
	while (result->length && result->name[result->length - 1] == ' ')
		result->length--;
	return result->length > 0;
}

static bool is_text_type(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

static int add_kallsyms_line(struct symbol_table *table, const struct kallsyms_line *line)
{
	struct symbol_spec spec = { .offset = line->address };

	/* A data symbol names no text, but ends the function before it. */
	spec.limit = line->address > UINT64_MAX - FUNCTION_MAX ? UINT64_MAX :
								 line->address + FUNCTION_MAX;
	if (is_text_type(line->type)) {
		spec.name = line->name;
		spec.name_length = line->length;
		spec.rank = line->type == 't' ? SYMBOL_RANK_LOCAL : SYMBOL_RANK_EXPORTED;
	}
	return symbol_table_add(table, &spec);
}

/* $x and $d in modules of arm64 only mark where code and data start. */
static bool is_mark(const struct kallsyms_line *line)
{
	return line->name[0] == '$';
}

static int add_kallsyms_lines(struct symbol_table *table, struct text_cursor text,
			      struct error *err)
{
	struct kallsyms_line parsed;
	struct text_cursor line;
	bool any_text = false, any_address = false;
	int ret;

	while (text_next_line(&text, &line)) {
		if (!parse_line(&line, &parsed) || is_mark(&parsed))
			continue;
		any_text |= is_text_type(parsed.type);
		any_address |= parsed.address != 0;
		ret = parsed.address ? add_kallsyms_line(table, &parsed) : 0;
		if (ret)
			return error_errno(err, ret, "kernel symbols");
	}
	if (any_text && !any_address)
		return error_with_hint(err, -EPERM, "run as root, or sysctl kernel.kptr_restrict=0",
				       "kernel symbols: the kernel hides their addresses");
	ret = symbol_table_finish(table);
	return ret ? error_errno(err, ret, "kernel symbols") : 0;
}

int kallsyms_parse(const char *text, size_t size, struct symbol_table **result, struct error *err)
{
	struct symbol_table *table;
	int ret;

	table = symbol_table_new(SYMBOL_INNERMOST);
	if (!table)
		return error_errno(err, -ENOMEM, "kernel symbols");
	ret = add_kallsyms_lines(table, (struct text_cursor){ text, text + size }, err);
	if (ret) {
		symbol_table_free(table);
		return ret;
	}
	*result = table;
	return 0;
}

int symbol_table_load_kallsyms(const char *path, struct symbol_table **result, struct error *err)
{
	char *text;
	size_t size;
	int fd, ret;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_errno(err, -errno, "%s", path);
	ret = text_read_file(fd, KALLSYMS_MAX, &text, &size);
	close(fd);
	if (ret)
		return error_errno(err, ret, "%s", path);
	ret = kallsyms_parse(text, size, result, err);
	free(text);
	return ret;
}

/* The profiled program writes the map. Therefore it may have any content and length. */
#define PERF_MAP_MAX (512UL << 20)

bool perf_map_line(struct text_cursor *line, struct symbol_spec *spec)
{
	const char *nul;

	if (!text_read_hex(line, &spec->offset) || !text_read_hex(line, &spec->size))
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

		/* The program may still be writing. Therefore ignore an incomplete last line. */
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

/* The name of some code, in case the code moves. */
struct loaded {
	uint64_t index;
	const char *name;
	size_t name_length;
};

DEFINE_COMPARE(compare_loaded, struct loaded, index)

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
