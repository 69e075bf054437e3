// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A JIT's map: any bytes give a table, and what is found contains the address that was asked for.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "symbol/symbol_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Spans must cover all addresses without overlap, each within its symbol. */
static void check_spans(const struct symbol_table *table)
{
	struct symbol_span span = { 0 };
	uint64_t at = 0;

	while (at < UINT64_MAX) {
		symbol_table_span(table, at, &span);
		if (span.start != at || span.end <= at)
			abort();
		if (span.symbol && (span.start < span.symbol->offset ||
				    span.end - span.symbol->offset > span.symbol->size))
			abort();
		if (span.symbol != symbol_table_find(table, at))
			abort();
		at = span.end;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symbol_table *table;
	struct error err;

	if (perf_map_parse((const char *)data, size, &table, &err))
		abort();
	check_spans(table);
	symbol_table_named(table, "main");
	symbol_table_free(table);
	return 0;
}
