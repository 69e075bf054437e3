// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Any bytes as what a reader answers, for it may be in the hands of who made a file: what is made of them is
 * sound, or refused. The first byte says what was asked.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "reader/call.h"
#include "symbol/symbol_table.h"
#include "unwind_find.h"

enum { OFFSETS = 5 };

static const uint8_t *bytes;
static size_t nr_bytes;

static int answer(struct reader_call *call, struct error *err)
{
	(void)err;
	wire_put(&call->answer, bytes, nr_bytes);
	return 0;
}

static void check_facts(struct error *err)
{
	struct elf_facts facts;

	if (reader_facts(-1, &facts, err))
		return;
	fuzz_check(!facts.build_id || profile_is_build_id(facts.build_id),
		   "a build id is hexadecimal");
	fuzz_check(profile_text_fits(facts.text, facts.nr_text), "text ends below 2^64");
	elf_facts_free(&facts);
}

static void check_symbols(struct error *err)
{
	const struct profile_object object = { .kind = PROFILE_FILE };
	struct symbol_range range = { 0, UINT64_MAX };
	const struct symbol_wanted wanted = { .ranges = &range, .nr = 1 };
	const struct reader_symbols request = { .object = &object,
						.file = { -1, "", "" },
						.places = -1,
						.wanted = &wanted };
	struct symbol_span span = { 0 };
	struct symbol_table *table;

	if (reader_symbols(&request, &table, err) || !table)
		return;
	while (span.end < UINT64_MAX) {
		uint64_t at = span.end;

		symbol_table_span(table, at, &span);
		fuzz_check(span.start <= at && at < span.end, "spans go on");
		if (span.symbol)
			fuzz_check(strlen(symbol_table_name(table, span.symbol)) <= nr_bytes,
				   "a symbol has a name");
	}
	symbol_table_free(table);
}

static void check_named(struct error *err)
{
	const struct profile_object object = { .kind = PROFILE_FILE };
	const struct reader_symbols request = { .object = &object, .file = { -1, "", "" } };
	struct symbol_range range;

	if (!reader_symbol_named(&request, "main", &range, err))
		fuzz_check(range.start <= range.end, "a function ends behind its start");
}

static void check_lines(struct error *err)
{
	static const uint64_t offsets[OFFSETS] = { 1, 2, 3, 4, 5 };
	const struct reader_file file = { -1, "", "" };
	const struct source_line *line;
	struct source_lines *lines;
	size_t i, length = 0;

	if (reader_lines(&file, offsets, OFFSETS, &lines, err))
		return;
	for (i = 0; i < OFFSETS; i++)
		for (line = source_lines_at(lines, i); line; line = line->caller) {
			length += line->file ? strlen(line->file) : 0;
			length += line->function ? strlen(line->function) : 0;
			length += line->scope && line->scope->name ? strlen(line->scope->name) : 0;
			fuzz_check(++length < SIZE_MAX, "callers end");
		}
	source_lines_free(lines);
}

static void check_rules(struct error *err)
{
	struct unwind_table table;
	struct unwind_go go;
	uint64_t granule, first;

	if (reader_rules(-1, &table, &go, err))
		return;
	fuzz_check(go.offset <= UINT64_MAX - go.size, "Go's text ends behind its start");
	first = (uint64_t)table.first_granule;
	for (granule = first; granule < first + table.granule_count; granule++)
		fuzz_check(unwind_find(&table, granule << UNWIND_GRANULE_SHIFT) != NULL,
			   "each granule has a rule");
	unwind_table_free(&table);
}

static void check_code(struct error *err)
{
	struct code code;

	if (reader_code(-1, 0, 64, &code, err))
		return;
	fuzz_check(code.size <= 64, "no more code than was asked for");
	free(code.bytes);
}

static void check_instructions(struct error *err)
{
	static const uint8_t zeros[32];
	const struct code code = { (uint8_t *)(uintptr_t)zeros, sizeof(zeros), 62 };
	struct instruction *all;
	size_t i, nr, size = 0;

	if (reader_instructions(&code, 0x1000, DISASM_ATT, &all, &nr, err))
		return;
	for (i = 0; i < nr; i++) {
		size += all[i].size;
		fuzz_check(all[i].size && memchr(all[i].text, '\0', sizeof(all[i].text)),
			   "an instruction has bytes and a text");
	}
	fuzz_check(size <= sizeof(zeros), "instructions are in the code");
	free(all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const checks[])(struct error * err) = {
		check_facts, check_symbols, check_named,	check_lines,
		check_rules, check_code,    check_instructions,
	};
	struct error err;

	if (!size)
		return 0;
	reader_here = answer;
	bytes = data + 1;
	nr_bytes = size - 1;
	checks[*data % (sizeof(checks) / sizeof(checks[0]))](&err);
	return 0;
}
