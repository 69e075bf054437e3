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
static bool parse_line(struct text_cursor *line, struct kallsyms_line *ret)
{
	const char *c;

	if (!text_take_hex(line, &ret->address))
		return false;
	if (line->end - line->at < 3 || line->at[1] != ' ')
		return false;
	ret->type = line->at[0];
	ret->length = 0;
	for (c = line->at + 2; c < line->end && *c && ret->length < NAME_ROOM; c++)
		ret->name[ret->length++] = *c == '\t' ? ' ' : *c;
	while (ret->length && ret->name[ret->length - 1] == ' ')
		ret->length--;
	return ret->length > 0;
}

static bool is_text(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

static int add_line(struct symbol_table *table, const struct kallsyms_line *line)
{
	struct symbol_spec spec = { .offset = line->address };

	/* A data symbol names no text, but the function before it ends there. */
	spec.limit = line->address > UINT64_MAX - FUNCTION_MAX ? UINT64_MAX :
								 line->address + FUNCTION_MAX;
	if (is_text(line->type)) {
		spec.name = line->name;
		spec.name_length = line->length;
		spec.rank = line->type == 't' ? SYMBOL_RANK_LOCAL : SYMBOL_RANK_EXPORTED;
	}
	return symbol_table_add(table, &spec);
}

static int add_lines(struct symbol_table *table, struct text_cursor text, struct error *err)
{
	struct kallsyms_line parsed;
	struct text_cursor line;
	bool any_text = false, any_address = false;
	int code;

	while (text_next_line(&text, &line)) {
		if (!parse_line(&line, &parsed))
			continue;
		any_text |= is_text(parsed.type);
		any_address |= parsed.address != 0;
		code = parsed.address ? add_line(table, &parsed) : 0;
		if (code)
			return error_errno(err, code, "kernel symbols");
	}
	if (any_text && !any_address) {
		error_set(err, -EPERM, "kernel symbols: the kernel hides their addresses");
		error_hint(err, "run as root, or sysctl kernel.kptr_restrict=0");
		return -EPERM;
	}
	code = symbol_table_finish(table);
	return code ? error_errno(err, code, "kernel symbols") : 0;
}

int kallsyms_parse(const char *text, size_t size, struct symbol_table **ret, struct error *err)
{
	struct symbol_table *table;
	int code;

	table = symbol_table_new(SYMBOL_INNERMOST);
	if (!table)
		return error_errno(err, -ENOMEM, "kernel symbols");
	code = add_lines(table, (struct text_cursor){ text, text + size }, err);
	if (code) {
		symbol_table_free(table);
		return code;
	}
	*ret = table;
	return 0;
}

int symbol_table_load_kallsyms(const char *path, struct symbol_table **ret, struct error *err)
{
	char *text;
	size_t size;
	int fd, code;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_errno(err, -errno, "%s", path);
	code = text_read_file(fd, KALLSYMS_MAX, &text, &size);
	close(fd);
	if (code)
		return error_errno(err, code, "%s", path);
	code = kallsyms_parse(text, size, ret, err);
	free(text);
	return code;
}
