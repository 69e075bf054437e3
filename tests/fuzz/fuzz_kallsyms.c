// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Any bytes give a table or a one-line error, and a symbol that is found contains the address that
 * was asked for.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/symbol_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_symbols(const struct symbol_table *table)
{
	struct symbol_span span = { 0 };
	const struct symbol *symbol;
	uint64_t at;

	for (at = 0; at < UINT64_MAX; at = span.end) {
		symbol_table_span(table, at, &span);
		if (span.end <= at)
			abort();
		symbol = symbol_table_find(table, at);
		if (!symbol)
			continue;
		if (at < symbol->offset || at - symbol->offset >= symbol->size || !*symbol->name)
			abort();
		if (!symbol_table_named(table, symbol->name))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = { "", "" };
	struct symbol_table *table;

	if (kallsyms_parse((const char *)data, size, &table, &err)) {
		if (!err.text[0] || strchr(err.text, '\n') || !err.hint[0])
			abort();
		return 0;
	}
	check_symbols(table);
	symbol_table_free(table);
	return 0;
}
