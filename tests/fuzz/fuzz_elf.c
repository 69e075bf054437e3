// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Any bytes as a program: its facts, symbols and source lines are read or refused, and a symbol
 * that is found contains the offset that was asked for.
 */
#include <stdlib.h>
#include <unistd.h>

#include "bytes.h"
#include "elf/elf_image.h"
#include "symbol/symbol.h"
#include "symbol/symbol_table.h"

enum { PLACES = 64, SPANS_MAX = 1000 };

/* Where debug files are searched for, and not found. */
static const char nowhere[] = "/nonexistent";

static void check_symbols(struct symbol_table *table)
{
	struct symbol_span span = { 0 };
	const struct symbol *symbol;
	uint64_t at = 0;
	unsigned int i;

	for (i = 0; i < SPANS_MAX && at < UINT64_MAX; i++, at = span.end) {
		symbol_table_span(table, at, &span);
		fuzz_check(span.start == at && span.end > at, "spans tile all offsets");
		symbol = symbol_table_find(table, at);
		fuzz_check(symbol == span.symbol, "a span is its symbol's");
		if (!symbol)
			continue;
		fuzz_check(at >= symbol->offset && at - symbol->offset < symbol->size,
			   "a symbol contains what it was found for");
		fuzz_check(*symbol->name, "a symbol has a name");
	}
	symbol_table_named(table, "main");
	symbol_table_free(table);
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Chooses offsets all over the text that the file claims to have. */
static size_t choose_places(const struct elf_facts *facts, uint64_t *places)
{
	size_t nr = 0, i;

	for (i = 0; i < PLACES && facts->nr_text; i++) {
		const struct profile_text *text = &facts->text[i % facts->nr_text];

		places[nr++] = text->offset + text->size / PLACES * i + i % 3;
	}
	qsort(places, nr, sizeof(*places), compare);
	return nr;
}

static void check_lines(int fd, const struct elf_facts *facts)
{
	uint64_t places[PLACES];
	size_t nr = choose_places(facts, places), i;
	const struct source_line *line;
	struct error err = { "", "" };
	struct source_lines *lines;
	unsigned int depth;

	if (source_lines_load(fd, "/fuzz", nowhere, places, nr, &lines, &err)) {
		fuzz_check_refusal(&err);
		return;
	}
	for (i = 0; i < nr; i++) {
		line = source_lines_at(lines, i);
		for (depth = 0; line; line = line->caller)
			fuzz_check(depth++ < 100000, "callers end");
	}
	source_lines_free(lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symbol_range ranges[] = { { 0, 0x1000 },
					 { 0x1234, 0x1240 },
					 { 0x2000, UINT64_MAX } };
	const struct symbol_wanted wanted = { .ranges = ranges, .nr = 3 };
	int fd = fuzz_file(data, size);
	struct error err = { "", "" };
	struct symbol_table *table;
	struct elf_facts facts;

	if (elf_facts_read(fd, &facts, &err)) {
		fuzz_check_refusal(&err);
	} else {
		check_lines(fd, &facts);
		elf_facts_free(&facts);
	}
	if (symbol_table_load_elf(fd, "/fuzz", nowhere, NULL, NULL, &table, &err))
		fuzz_check_refusal(&err);
	else
		check_symbols(table);
	if (symbol_table_load_elf(fd, "/fuzz", nowhere, NULL, &wanted, &table, &err))
		fuzz_check_refusal(&err);
	else
		check_symbols(table);
	if (symbol_table_load_memory(data, size, NULL, &table, &err))
		fuzz_check_refusal(&err);
	else
		check_symbols(table);
	close(fd);
	return 0;
}
