// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Questions on files and their symbols. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "elf/elf_check.h"
#include "reader/call.h"
#include "symbol/symbol_cache.h"
#include "symbol/symbol_source.h"
#include "symbol/symbol_table.h"

/*
 * --- facts of a file ----------------------------------------------------------------------------
 */

static void put_facts(struct wire *wire, const struct elf_facts *facts)
{
	wire_put_text(wire, facts->build_id);
	wire_put_array(wire, facts->text, facts->nr_text, sizeof(*facts->text));
}

static bool get_facts(struct wire *wire, struct elf_facts *result)
{
	struct elf_facts facts = { .build_id = wire_get_copy(wire) };

	facts.text = wire_get_array(wire, &facts.nr_text, sizeof(*facts.text));
	if (wire->bad || facts.nr_text > ELF_SEGMENTS_MAX ||
	    !profile_text_fits(facts.text, facts.nr_text) ||
	    (facts.build_id && !profile_is_build_id(facts.build_id))) {
		elf_facts_free(&facts);
		return false;
	}
	*result = facts;
	return true;
}

int answer_facts(struct reader_call *call, struct error *err)
{
	struct elf_facts facts;
	int ret = elf_facts_read(call->fds[0], &facts, err);

	if (ret)
		return ret;
	put_facts(&call->answer, &facts);
	elf_facts_free(&facts);
	return 0;
}

int reader_facts(int fd, struct elf_facts *result, struct error *err)
{
	struct reader_call call = { .kind = READ_FACTS, .fds = { fd, -1 } };
	int ret = reader_call(&call, err);

	if (!ret && !get_facts(&call.answer, result))
		ret = reader_bad_answer(&call, err);
	reader_call_end(&call);
	return ret;
}

/* --- names ------------------------------------------------------------------------------------ */

/* The reader's tables, and the current round of its caller. */
static struct symbol_cache *cache;
static uint64_t cache_round;

static struct symbol_cache *cache_of_round(uint64_t round)
{
	if (!round)
		return NULL;
	if (!cache)
		cache = symbol_cache_new(
			min_size(SYMBOL_CACHE_BYTES, (size_t)(reader_memory() / 2)));
	if (cache && cache_round != round)
		symbol_cache_age(cache);
	cache_round = round;
	return cache;
}

static void put_request(struct wire *wire, const struct reader_symbols *request)
{
	wire_put_u64(wire, request->object->kind);
	wire_put_text(wire, request->object->build_id);
	wire_put_text(wire, request->file.path);
	wire_put_u64(wire, request->limit);
	wire_put_u64(wire, request->round);
}

/* A question as the reader receives it. */
struct symbols_question {
	struct profile_object object;
	struct symbol_source_file file;
	struct symbol_cache *cache;
	struct symbol_wanted wanted;
};

static void get_request(struct reader_call *call, struct symbols_question *result)
{
	struct wire *wire = &call->question;

	*result = (struct symbols_question){ .object.kind = (int)wire_get_u64(wire) };
	result->object.build_id = wire_get_copy(wire);
	result->object.path = wire_get_copy(wire);
	result->file.fd = call->fds[0];
	result->file.root = call->root;
	result->file.limit = wire_get_u64(wire);
	result->file.places = call->fds[1];
	result->cache = cache_of_round(wire_get_u64(wire));
}

static void free_question(struct symbols_question *question)
{
	free(question->object.build_id);
	free(question->object.path);
	free(question->wanted.ranges);
}

static void put_piece(struct wire *wire, struct symbol_table *table, const struct symbol_span *span)
{
	const struct symbol *symbol = span->symbol;

	wire_put_u64(wire, span->start);
	wire_put_u64(wire, span->end);
	wire_put_u64(wire, symbol ? 1 + symbol_is_place(symbol) : 0);
	if (!symbol)
		return;
	wire_put_u64(wire, symbol->offset);
	wire_put_u64(wire, symbol->size);
	wire_put_text(wire, symbol_table_name(table, symbol));
}

/* Writes each span once, even if it is in several ranges. */
static void put_pieces(struct wire *wire, struct symbol_table *table,
		       const struct symbol_wanted *wanted)
{
	struct symbol_span span = { 0 };
	uint64_t at = 0;
	size_t i;

	for (i = 0; i < wanted->nr; i++) {
		at = wanted->ranges[i].start > at ? wanted->ranges[i].start : at;
		while (at < wanted->ranges[i].end && !wire->bad) {
			symbol_table_span(table, at, &span);
			put_piece(wire, table, &span);
			at = span.end;
		}
	}
}

/* Nameless text is shown in parts. Therefore include whole parts. */
static int widen(const struct symbol_wanted *wanted, struct symbol_wanted *result)
{
	struct symbol_range *last;
	uint64_t start, end;
	size_t i;

	result->ranges = calloc(wanted->nr + 1, sizeof(*result->ranges));
	if (!result->ranges)
		return -ENOMEM;
	for (i = 0; i < wanted->nr; i++) {
		start = wanted->ranges[i].start - wanted->ranges[i].start % SYMBOL_PART;
		if (__builtin_add_overflow(wanted->ranges[i].end, SYMBOL_PART - 1, &end))
			end = UINT64_MAX;
		else
			end -= end % SYMBOL_PART;
		last = result->nr ? &result->ranges[result->nr - 1] : NULL;
		if (last && start <= last->end)
			last->end = end > last->end ? end : last->end;
		else
			result->ranges[result->nr++] = (struct symbol_range){ start, end };
	}
	return 0;
}

int answer_symbols(struct reader_call *call, struct error *err)
{
	struct symbol_table *table = NULL;
	struct symbols_question question;
	struct symbol_wanted wide = { 0 };
	int ret;

	get_request(call, &question);
	question.wanted.ranges = wire_get_array(&call->question, &question.wanted.nr,
						sizeof(*question.wanted.ranges));
	ret = call->question.bad ? -ENOMEM : widen(&question.wanted, &wide);
	if (!ret)
		ret = symbol_source_load(&question.object, &question.file, question.cache, &wide,
					 &table, err);
	if (!ret && table)
		put_pieces(&call->answer, table, &question.wanted);
	symbol_source_release(question.cache, table);
	free(wide.ranges);
	free_question(&question);
	return ret;
}

static int get_piece(struct wire *wire, struct symbol_piece **pieces, size_t *nr, size_t *room)
{
	struct symbol_piece *piece;
	uint64_t kind;
	int ret = GROW(*pieces, *room, *nr + 1);

	if (ret)
		return ret;
	piece = &(*pieces)[*nr];
	*piece = (struct symbol_piece){ .span.start = wire_get_u64(wire) };
	piece->span.end = wire_get_u64(wire);
	kind = wire_get_u64(wire);
	if (kind) {
		piece->symbol.offset = wire_get_u64(wire);
		piece->symbol.size = wire_get_u64(wire);
		piece->symbol.name = wire_get_text(wire);
		piece->place = kind > 1;
	}
	if (wire->bad || piece->symbol.size > UINT64_MAX - piece->symbol.offset)
		return -EIO;
	++*nr;
	return 0;
}

/* NULL with 0: the object has no table. */
static int get_table(struct reader_call *call, struct symbol_table **result, struct error *err)
{
	struct wire *wire = &call->answer;
	struct symbol_piece *pieces = NULL;
	size_t nr = 0, room = 0;
	int ret = 0;

	*result = NULL;
	while (!ret && wire->at < wire->nr)
		ret = get_piece(wire, &pieces, &nr, &room);
	if (!ret && nr)
		*result = symbol_table_of_pieces(pieces, nr);
	free(pieces);
	if (ret == -ENOMEM)
		return error_errno(err, ret, "symbols");
	return ret || (nr && !*result) ? reader_bad_answer(call, err) : 0;
}

static struct reader_call symbols_call(enum reader_kind kind, const struct reader_symbols *request)
{
	struct reader_call call = { .kind = kind,
				    .fds = { request->file.fd, request->places },
				    .path = request->file.path,
				    .root = request->file.root };

	put_request(&call.question, request);
	return call;
}

int reader_symbols(const struct reader_symbols *request, struct symbol_table **result,
		   struct error *err)
{
	const struct symbol_wanted *wanted = request->wanted;
	struct reader_call call = symbols_call(READ_SYMBOLS, request);
	int ret;

	wire_put_array(&call.question, wanted->ranges, wanted->nr, sizeof(*wanted->ranges));
	ret = reader_call(&call, err);
	if (!ret)
		ret = get_table(&call, result, err);
	reader_call_end(&call);
	return ret;
}

int answer_named(struct reader_call *call, struct error *err)
{
	struct symbol_table *table = NULL;
	const struct symbol *symbol;
	struct symbols_question question;
	int ret;

	get_request(call, &question);
	ret = call->question.bad ?
		      -ENOMEM :
		      symbol_source_load(&question.object, &question.file, NULL, NULL, &table, err);
	symbol = table ? symbol_table_named(table, wire_get_text(&call->question)) : NULL;
	if (symbol) {
		wire_put_u64(&call->answer, symbol->offset);
		wire_put_u64(&call->answer, symbol->offset + symbol->size);
	}
	symbol_table_free(table);
	free_question(&question);
	return ret || symbol ? ret : -ENOENT;
}

int reader_symbol_named(const struct reader_symbols *request, const char *name,
			struct symbol_range *result, struct error *err)
{
	struct reader_call call = symbols_call(READ_NAMED, request);
	int ret;

	wire_put_text(&call.question, name);
	ret = reader_call(&call, err);
	if (!ret) {
		result->start = wire_get_u64(&call.answer);
		result->end = wire_get_u64(&call.answer);
		if (call.answer.bad || result->end < result->start)
			ret = reader_bad_answer(&call, err);
	}
	reader_call_end(&call);
	return ret;
}
