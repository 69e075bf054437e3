// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbol/symbol_table.h"
#include "symbol/text_symbols.h"

#define KALLSYMS_MAX (512UL << 20)

/*
 * kallsyms has no sizes. No kernel function is longer than this; without a limit the last function
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

/* A line is ADDRESS TYPE NAME, followed for a module by a tab and [MODULE]. */
static bool parse_line(struct text_cursor *line, struct kallsyms_line *result)
{
	const char *c;

	if (!text_take_hex(line, &result->address))
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

	/* A data symbol names no text, but the function before it ends there. */
	spec.limit = line->address > UINT64_MAX - FUNCTION_MAX ? UINT64_MAX :
								 line->address + FUNCTION_MAX;
	if (is_text_type(line->type)) {
		spec.name = line->name;
		spec.name_length = line->length;
		spec.rank = line->type == 't' ? SYMBOL_RANK_LOCAL : SYMBOL_RANK_EXPORTED;
	}
	return symbol_table_add(table, &spec);
}

static int add_kallsyms_lines(struct symbol_table *table, struct text_cursor text,
			      struct error *err)
{
	struct kallsyms_line parsed;
	struct text_cursor line;
	bool any_text = false, any_address = false;
	int ret;

	while (text_next_line(&text, &line)) {
		if (!parse_line(&line, &parsed))
			continue;
		any_text |= is_text_type(parsed.type);
		any_address |= parsed.address != 0;
		ret = parsed.address ? add_kallsyms_line(table, &parsed) : 0;
		if (ret)
			return error_errno(err, ret, "kernel symbols");
	}
	if (any_text && !any_address) {
		error_set(err, -EPERM, "kernel symbols: the kernel hides their addresses");
		error_hint(err, "run as root, or sysctl kernel.kptr_restrict=0");
		return -EPERM;
	}
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
