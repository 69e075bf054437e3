// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/symbol_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/util.h"
#include "elf/elf_check.h"
#include "symbol/symbol.h"

/*
 * Symbols may overlap. A cover divides all addresses into disjoint pieces, each with one symbol or
 * none. A look-up is then a single binary search, however deeply a hostile file nests symbols.
 */
#define COVER_NONE UINT32_MAX

/* Packed, because an agent keeps a piece for each function of the kernel. */
struct __attribute__((packed, aligned(4))) cover_piece {
	uint64_t start; /* it ends at the next piece's start */
	uint32_t symbol; /* index, or COVER_NONE */
};

struct cover {
	struct cover_piece *pieces; /* ascending; the first starts at 0 */
	size_t nr;
};

/* An interval, which covers earlier ones. */
struct cover_interval {
	uint64_t start;
	uint64_t end;
	uint32_t order; /* SYMBOL_LATEST: number of insertion */
	uint32_t symbol; /* for the piece */
};

/*
 * A sweep over the starts of the intervals. A heap holds intervals that may still be open. Its top
 * names the current place. An interval that has ended is removed only when it reaches the top.
 */
struct sweep {
	const struct cover_interval *intervals;
	enum symbol_overlap overlap;
	uint32_t *heap;
	size_t nr_open;
	struct cover cover;
	uint64_t at;
};

static bool is_above(const struct sweep *sweep, uint32_t a, uint32_t b)
{
	const struct cover_interval *x = &sweep->intervals[a], *y = &sweep->intervals[b];

	if (sweep->overlap == SYMBOL_LATEST)
		return x->order > y->order;
	return x->start != y->start ? x->start > y->start : a < b;
}

static void begin_piece(struct sweep *sweep, uint32_t symbol)
{
	struct cover *cover = &sweep->cover;

	if (cover->nr && cover->pieces[cover->nr - 1].symbol == symbol)
		return;
	cover->pieces[cover->nr].start = sweep->at;
	cover->pieces[cover->nr].symbol = symbol;
	cover->nr++;
}

static void sweep_to(struct sweep *sweep, uint64_t target)
{
	while (sweep->nr_open && sweep->at < target) {
		const struct cover_interval *top = &sweep->intervals[sweep->heap[0]];

		if (top->end <= sweep->at) {
			sweep->heap[0] = sweep->heap[--sweep->nr_open];
			HEAP_DOWN(sweep->heap, sweep->nr_open, 0, x, y, is_above(sweep, *x, *y));
			continue;
		}
		begin_piece(sweep, top->symbol);
		sweep->at = top->end < target ? top->end : target;
	}
	if (sweep->at < target)
		begin_piece(sweep, COVER_NONE);
	sweep->at = target;
}

/* Intervals ascend by start; among equal starts the preferred one comes first. 0 or -ENOMEM. */
static int cover_build(const struct cover_interval *intervals, size_t nr,
		       enum symbol_overlap overlap, struct cover *result)
{
	struct sweep sweep = { .intervals = intervals, .overlap = overlap };
	struct cover_piece *fitted;
	size_t i;

	/* A piece starts where an interval starts or ends, at 0, or at the very end. */
	sweep.cover.pieces = malloc((2 * nr + 2) * sizeof(*sweep.cover.pieces));
	sweep.heap = calloc(nr + 1, sizeof(*sweep.heap));
	if (!sweep.cover.pieces || !sweep.heap) {
		free(sweep.heap);
		free(sweep.cover.pieces);
		return -ENOMEM;
	}
	for (i = 0; i < nr; i++) {
		sweep_to(&sweep, intervals[i].start);
		HEAP_PUSH(sweep.heap, sweep.nr_open, (uint32_t)i, x, y, is_above(&sweep, *x, *y));
	}
	sweep_to(&sweep, UINT64_MAX);
	begin_piece(&sweep, COVER_NONE);
	free(sweep.heap);
	fitted = realloc(sweep.cover.pieces, sweep.cover.nr * sizeof(*fitted));
	if (fitted)
		sweep.cover.pieces = fitted;
	*result = sweep.cover;
	return 0;
}

static void cover_free(struct cover *cover)
{
	free(cover->pieces);
	cover->pieces = NULL;
	cover->nr = 0;
}

/* The index of the piece that contains offset. */
static size_t cover_find(const struct cover *cover, uint64_t offset)
{
	size_t behind = BISECT(i, cover->nr, cover->pieces[i].start <= offset);

	return behind ? behind - 1 : 0;
}

/*
 * Limits of a table: 4,194,304 symbols need some 500 MiB while it is built, plus names. No program
 * has that many, and a host that profiles can spare more.
 */
#define TABLE_SYMBOLS_MAX ELF_SYMBOLS_MAX
#define TABLE_NAMES_MAX (256UL << 20)
#define CUT "..."
#define NAME_GUESS 32 /* bytes: estimated length of a name in a survey */

/*
 * After an unsized symbol, a longer gap contains text without symbols, because functions in
 * assembly are shorter (OpenSSL's longest have 11 KiB). The symbol then gets LOOSE_GUESS bytes,
 * enough for most functions.
 */
#define LOOSE_MAX (16UL << 10)
#define LOOSE_GUESS (4UL << 10)

struct candidate {
	struct symbol symbol;
	uint64_t limit;
	uint32_t raw; /* offset in strings, of the name as in the file */
	uint32_t length; /* of that name */
	uint32_t rank;
	uint32_t order;
	bool loose; /* see struct symbol_spec */
	bool place;
};

/*
 * The part of a candidate that a finished table keeps, because an agent keeps the kernel's 122,000.
 */
struct symbol_entry {
	struct symbol symbol; /* first: a struct symbol is cast to its entry */
	uint32_t raw;
	bool place;
	bool demangled; /* symbol.name must be freed */
	bool looked_at; /* demangling was tried */
};

/*
 * raw of a candidate without a name, which only ends the previous one. Names begin after the first
 * byte.
 */
#define NAMELESS 0

/*
 * By the high bits of an offset: how many ranges of a list end before it. A large file has a
 * hundred thousand symbols in no order, and most need only this look-up.
 */
#define BUCKETS 1024

struct ends_index {
	unsigned int shift;
	uint32_t before[BUCKETS + 1];
};

/* The counts of a survey. */
struct survey {
	const struct symbol_wanted *wanted; /* NULL: there is no survey */
	size_t nr;
	size_t names; /* except names of places; measuring their lengths would take longest */
};

struct symbol_table {
	enum symbol_overlap overlap;
	struct survey survey;
	/*
	 * By wanted range: from the last named start before it to the first after it. NULL: all is
	 * kept.
	 */
	struct symbol_range *reach;
	size_t nr_reach;
	struct ends_index *ends; /* of the wanted ranges, then of reach; until it is finished */
	struct candidate *candidates; /* until it is finished */
	struct symbol_entry *entries; /* once it is finished */
	size_t nr; /* of candidates or entries */
	size_t room; /* of candidates */
	char *strings;
	size_t used;
	size_t strings_room;
	uint32_t of_places; /* offset in strings of their common prefix */
	struct cover cover;
};

struct symbol_table *symbol_table_new(enum symbol_overlap overlap)
{
	struct symbol_table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	table->overlap = overlap;
	if (GROW(table->strings, table->strings_room, 1)) {
		free(table);
		return NULL;
	}
	table->strings[table->used++] = '\0';
	return table;
}

void symbol_table_free(struct symbol_table *table)
{
	size_t i;

	if (!table)
		return;
	for (i = 0; table->entries && i < table->nr; i++) {
		if (table->entries[i].demangled)
			free((char *)(uintptr_t)table->entries[i].symbol.name);
	}
	free(table->reach);
	free(table->ends);
	free(table->candidates);
	free(table->entries);
	free(table->strings);
	cover_free(&table->cover);
	free(table);
}

static size_t name_length(const struct symbol_spec *spec)
{
	size_t length = spec->name ? strnlen(spec->name, spec->name_length) : 0;
	const char *version = spec->versioned ? memchr(spec->name, '@', length) : NULL;

	return version ? (size_t)(version - spec->name) : length;
}

static int copy_name(struct symbol_table *table, const struct symbol_spec *spec,
		     struct candidate *candidate)
{
	size_t length = name_length(spec);
	bool cut = length >= ELF_NAME_MAX;
	int ret;

	if (cut)
		length = ELF_NAME_MAX - 1;

	candidate->raw = spec->place ? table->of_places : NAMELESS;
	candidate->length = (uint32_t)length;
	if (!(length || spec->place) || candidate->raw != NAMELESS)
		return 0;
	if (table->used + length >= TABLE_NAMES_MAX)
		return -E2BIG;
	ret = GROW(table->strings, table->strings_room, table->used + length + 1);
	if (ret)
		return ret;
	candidate->raw = (uint32_t)table->used;
	if (spec->place)
		table->of_places = candidate->raw;
	memcpy(table->strings + table->used, spec->name, length);
	if (cut)
		memcpy(table->strings + table->used + length - strlen(CUT), CUT, strlen(CUT));
	table->used += length;
	table->strings[table->used++] = '\0';
	return 0;
}

/* Ranges ascend by their ends. The last bucket includes all larger offsets. */
static void index_ends(struct ends_index *index, const struct symbol_range *ranges, size_t nr)
{
	uint64_t last = nr ? ranges[nr - 1].start : 0;
	size_t bucket, before = 0;

	for (index->shift = 0; last >> index->shift >= BUCKETS;)
		index->shift++;
	for (bucket = 0; bucket < BUCKETS; bucket++) {
		while (before < nr && ranges[before].end < (uint64_t)bucket << index->shift)
			before++;
		index->before[bucket] = (uint32_t)before;
	}
	index->before[BUCKETS] = (uint32_t)nr;
}

/* The number of ranges that end before an offset. */
static size_t ends_before(const struct ends_index *index, const struct symbol_range *ranges,
			  uint64_t offset)
{
	uint64_t bucket = min_size(offset >> index->shift, BUCKETS - 1);
	size_t first = index->before[bucket];

	return first + BISECT(i, index->before[bucket + 1] - first, ranges[first + i].end < offset);
}

int symbol_table_survey(struct symbol_table *table, const struct symbol_wanted *wanted)
{
	size_t i;

	table->reach = calloc(wanted->nr + 1, sizeof(*table->reach));
	table->ends = malloc(sizeof(*table->ends));
	if (!table->reach || !table->ends)
		return -ENOMEM;
	table->nr_reach = wanted->nr;
	for (i = 0; i < wanted->nr; i++)
		table->reach[i].end = UINT64_MAX;
	index_ends(table->ends, wanted->ranges, wanted->nr);
	table->survey.wanted = wanted;
	return 0;
}

static int look_at_symbol(struct symbol_table *table, const struct symbol_spec *spec)
{
	const struct symbol_wanted *wanted = table->survey.wanted;
	size_t before, behind;

	if (table->survey.nr++ >= TABLE_SYMBOLS_MAX)
		return -E2BIG;
	if (!spec->name || !(spec->name_length || spec->place))
		return 0;
	table->survey.names += !spec->place;
	before = ends_before(table->ends, wanted->ranges, spec->offset);
	before += before < wanted->nr && wanted->ranges[before].end == spec->offset;
	behind = before;
	if (behind < wanted->nr && wanted->ranges[behind].start < spec->offset)
		behind++;
	if (behind < wanted->nr && table->reach[behind].start < spec->offset)
		table->reach[behind].start = spec->offset;
	if (before && table->reach[before - 1].end > spec->offset)
		table->reach[before - 1].end = spec->offset;
	return 0;
}

void symbol_table_select(struct symbol_table *table)
{
	struct symbol_range *reach = table->reach;
	size_t i, bytes = table->survey.names * NAME_GUESS +
			  table->survey.nr *
				  (sizeof(struct symbol_entry) + sizeof(struct cover_piece));

	const bool fits = bytes <= table->survey.wanted->room;

	table->survey.wanted = NULL;
	if (fits) {
		free(reach);
		table->reach = NULL;
		return;
	}
	for (i = 1; i < table->nr_reach; i++)
		if (reach[i].start < reach[i - 1].start)
			reach[i].start = reach[i - 1].start;
	for (i = table->nr_reach; i-- > 1;)
		if (reach[i - 1].end > reach[i].end)
			reach[i - 1].end = reach[i].end;
	index_ends(table->ends, reach, table->nr_reach);
}

bool symbol_table_is_whole(const struct symbol_table *table)
{
	return !table->reach;
}

/*
 * Whether the symbol may name a place in a wanted range. A place is named by a symbol that reaches
 * it, or by the last unsized one before it, unless that is a label in another symbol, whose end is
 * then the next start. All these begin or end within reach.
 */
static bool is_reached(const struct symbol_table *table, const struct symbol_spec *spec)
{
	size_t first = ends_before(table->ends, table->reach, spec->offset);

	return first < table->nr_reach && (table->reach[first].start <= spec->offset ||
					   table->reach[first].start - spec->offset <= spec->size);
}

bool symbol_table_keeps(const struct symbol_table *table, const struct symbol_spec *spec)
{
	return !table->survey.wanted && (!table->reach || is_reached(table, spec));
}

int symbol_table_add(struct symbol_table *table, const struct symbol_spec *spec)
{
	struct candidate *candidate;
	int ret;

	if (table->survey.wanted)
		return look_at_symbol(table, spec);
	if (!symbol_table_keeps(table, spec))
		return 0;
	if (table->nr >= TABLE_SYMBOLS_MAX)
		return -E2BIG;
	ret = GROW(table->candidates, table->room, table->nr + 1);
	if (ret)
		return ret;
	candidate = &table->candidates[table->nr];
	memset(candidate, 0, sizeof(*candidate));
	ret = copy_name(table, spec, candidate);
	if (ret)
		return ret;
	candidate->symbol.offset = spec->offset;
	candidate->symbol.size = spec->size;
	if (candidate->symbol.size > UINT64_MAX - spec->offset)
		candidate->symbol.size = UINT64_MAX - spec->offset;
	candidate->limit = spec->limit;
	candidate->loose = spec->loose;
	candidate->place = spec->place;
	candidate->rank = spec->rank;
	candidate->order = (uint32_t)table->nr++;
	return 0;
}

static int add_run(struct symbol_table *table, const struct symbol_source *source, size_t *next,
		   size_t end)
{
	int ret = 0;

	for (; !ret && *next < end; (*next)++)
		ret = source->add(table, source, *next);
	return ret;
}

/* The address of an offset, or the nearest end of the text. */
static uint64_t address_near(const struct profile_text *text, uint64_t offset)
{
	if (offset < text->offset)
		return text->address;
	return text->address + min_size(offset - text->offset, text->size);
}

/* Skipped symbols count for the size of the whole table. */
static int skip_symbols(struct symbol_table *table, const struct symbol_source *source, size_t nr)
{
	if (!table->survey.wanted)
		return 0;
	table->survey.nr += nr;
	table->survey.names += source->places ? 0 : nr;
	return table->survey.nr > TABLE_SYMBOLS_MAX ? -E2BIG : 0;
}

/* The number of symbols that begin at or before an address. */
static size_t begin_by(const struct symbol_source *source, uint64_t address)
{
	return BISECT(i, source->nr, source->start(source, i) <= address);
}

/*
 * Adds the last symbol before a range, those in it, and the first one after it. Several may begin
 * there, all but one without text.
 */
int symbol_table_add_sorted(struct symbol_table *table, const struct symbol_source *source)
{
	const struct elf_image *image = source->image;
	const struct symbol_range *ranges = table->survey.wanted ? table->survey.wanted->ranges :
								   table->reach;
	size_t i, next = 0, added = 0, first, end, before;
	uint64_t from, to;
	int ret = 0;

	if (!ranges || image->nr_text != 1)
		return add_run(table, source, &next, source->nr);
	for (i = 0; !ret && i < table->nr_reach; i++) {
		from = address_near(image->text, ranges[i].start);
		to = address_near(image->text, ranges[i].end);
		first = BISECT(j, source->nr, source->start(source, j) < from);
		end = begin_by(source, to);
		if (end < source->nr)
			end = begin_by(source, source->start(source, end));
		before = next = max_size(next, first - (first > 0));
		ret = add_run(table, source, &next, end);
		added += next - before;
	}
	return ret ? ret : skip_symbols(table, source, source->nr - added);
}

static uint64_t candidate_end(const struct candidate *candidate)
{
	return candidate->symbol.offset + candidate->symbol.size;
}

/*
 * Prefer few leading underscores: malloc is a better name than __libc_malloc, whatever the binding.
 */
static int compare_names(const struct candidate *a, const struct candidate *b)
{
	return compare_u64(strspn(a->symbol.name, "_"), strspn(b->symbol.name, "_")) ?:
		       compare_u64(a->length, b->length)			     ?:
		       strcmp(a->symbol.name, b->symbol.name);
}

/* Ascending; the best alias of an address comes first. */
DEFINE_COMPARE_AS(compare_candidates, struct candidate,
		  compare_u64(a->symbol.offset, b->symbol.offset)     ?:
			  !a->symbol.size - !b->symbol.size	      ?:
			  (a->raw == NAMELESS) - (b->raw == NAMELESS) ?:
			  compare_u64(b->rank, a->rank)		      ?:
			  compare_names(a, b)			      ?:
			  compare_u64(b->symbol.size, a->symbol.size) ?:
			  compare_u64(a->order, b->order))

static bool is_same_symbol(const struct candidate *a, const struct candidate *b)
{
	return a->symbol.offset == b->symbol.offset && a->symbol.size == b->symbol.size &&
	       !strcmp(a->symbol.name, b->symbol.name);
}

/*
 * Drops symbols that are in both .symtab and .dynsym, and labels: an unsized symbol inside a sized
 * one is a jump target in assembly, not a function.
 */
static void drop_redundant(struct symbol_table *table)
{
	uint64_t sized_end = 0;
	size_t i, kept = 0;

	for (i = 0; i < table->nr; i++) {
		const struct candidate *candidate = &table->candidates[i];
		const struct candidate *last = kept ? &table->candidates[kept - 1] : NULL;

		if (table->overlap == SYMBOL_INNERMOST) {
			if (last && is_same_symbol(candidate, last))
				continue;
			if (!candidate->symbol.size && candidate->symbol.offset < sized_end &&
			    !(last && last->symbol.size &&
			      last->symbol.offset == candidate->symbol.offset))
				continue;
		}
		if (candidate->symbol.size && candidate_end(candidate) > sized_end)
			sized_end = candidate_end(candidate);
		table->candidates[kept++] = *candidate;
	}
	table->nr = kept;
}

static uint64_t unsized_size(const struct candidate *candidate, uint64_t next)
{
	uint64_t end = candidate->limit < next ? candidate->limit : next;

	if (end <= candidate->symbol.offset)
		return 0;
	if (candidate->loose && end - candidate->symbol.offset > LOOSE_MAX)
		return LOOSE_GUESS;
	return end - candidate->symbol.offset;
}

/* An unsized symbol ends at the next one. An alias of a sized symbol gets its size. */
static void extend_unsized(struct symbol_table *table)
{
	uint64_t next = UINT64_MAX;
	size_t i;

	for (i = 1; i < table->nr; i++) {
		const struct candidate *first = &table->candidates[i - 1];
		struct candidate *alias = &table->candidates[i];

		if (!alias->symbol.size && alias->symbol.offset == first->symbol.offset)
			alias->symbol.size = first->symbol.size;
	}
	for (i = table->nr; i--;) {
		struct candidate *candidate = &table->candidates[i];

		if (!candidate->symbol.size)
			candidate->symbol.size = unsized_size(candidate, next);
		if (!i || table->candidates[i - 1].symbol.offset != candidate->symbol.offset)
			next = candidate->symbol.offset;
	}
}

static int build_cover(struct symbol_table *table)
{
	struct cover_interval *intervals;
	size_t i, nr = 0;
	int ret;

	intervals = malloc((table->nr + 1) * sizeof(*intervals));
	if (!intervals)
		return -ENOMEM;
	for (i = 0; i < table->nr; i++) {
		const struct candidate *candidate = &table->candidates[i];

		if (!candidate->symbol.size)
			continue;
		intervals[nr].start = candidate->symbol.offset;
		intervals[nr].end = candidate_end(candidate);
		intervals[nr].order = candidate->order;
		intervals[nr].symbol = candidate->raw == NAMELESS ? COVER_NONE : (uint32_t)i;
		nr++;
	}
	ret = cover_build(intervals, nr, table->overlap, &table->cover);
	free(intervals);
	return ret;
}

/* Turns candidates into entries. */
static int keep_entries(struct symbol_table *table)
{
	size_t i;

	table->entries = malloc((table->nr + 1) * sizeof(*table->entries));
	if (!table->entries)
		return -ENOMEM;
	for (i = 0; i < table->nr; i++) {
		const struct candidate *candidate = &table->candidates[i];

		table->entries[i] = (struct symbol_entry){ .symbol = candidate->symbol,
							   .raw = candidate->raw,
							   .place = candidate->place };
	}
	free(table->candidates);
	table->candidates = NULL;
	return 0;
}

/* A table may be kept for long, and grow() leaves up to half of it unused. */
static void fit_strings(struct symbol_table *table)
{
	char *fitted = realloc(table->strings, table->used);

	if (!fitted)
		return;
	table->strings = fitted;
	table->strings_room = table->used;
}

int symbol_table_finish(struct symbol_table *table)
{
	size_t i;
	int ret;

	free(table->ends);
	table->ends = NULL;
	fit_strings(table);
	for (i = 0; i < table->nr; i++)
		table->candidates[i].symbol.name = table->strings + table->candidates[i].raw;
	SORT(table->candidates, table->nr, compare_candidates);
	drop_redundant(table);
	if (table->overlap == SYMBOL_INNERMOST)
		extend_unsized(table);
	ret = build_cover(table);
	return ret ? ret : keep_entries(table);
}

size_t symbol_table_bytes(const struct symbol_table *table)
{
	return sizeof(*table) + table->nr * sizeof(*table->entries) + table->strings_room +
	       table->cover.nr * sizeof(*table->cover.pieces);
}

int symbol_table_failure(int code, const char *of, struct error *err)
{
	if (code != -E2BIG)
		return error_errno(err, code, "symbols of %.256s", of);
	return error_set(err, code, "symbols of %.256s: more than %d, or %lu MiB of names", of,
			 TABLE_SYMBOLS_MAX, TABLE_NAMES_MAX >> 20);
}

/* By place, size and name, so that equal entries are neighbours. */
DEFINE_COMPARE_AS(compare_entries, struct symbol_entry,
		  compare_u64(a->symbol.offset, b->symbol.offset)     ?:
			  compare_u64(a->symbol.size, b->symbol.size) ?:
			  a->place - b->place			      ?:
			  strcmp(a->symbol.name, b->symbol.name))

static struct symbol_entry entry_of_piece(const struct symbol_piece *piece)
{
	return (struct symbol_entry){ .symbol = piece->symbol,
				      .place = piece->place,
				      .looked_at = true };
}

/* Adds the entries of all pieces, without duplicates. */
static int add_piece_entries(struct symbol_table *table, const struct symbol_piece *pieces,
			     size_t nr)
{
	size_t i;

	table->entries = calloc(nr + 1, sizeof(*table->entries));
	if (!table->entries)
		return -ENOMEM;
	for (i = 0; i < nr; i++)
		if (pieces[i].symbol.name)
			table->entries[table->nr++] = entry_of_piece(&pieces[i]);
	table->nr = COMBINE(table->entries, table->nr, compare_entries, NULL);
	return 0;
}

static uint32_t entry_index(const struct symbol_table *table, const struct symbol_piece *piece)
{
	const struct symbol_entry key = entry_of_piece(piece), *found;

	if (!piece->symbol.name)
		return COVER_NONE;
	found = bsearch(&key, table->entries, table->nr, sizeof(key), compare_entries);
	return (uint32_t)(found - table->entries);
}

/* 0, -EINVAL or -ENOMEM. */
static int cover_pieces(struct symbol_table *table, const struct symbol_piece *pieces, size_t nr)
{
	struct cover *cover = &table->cover;
	uint64_t at = 0;
	size_t i;

	cover->pieces = calloc(2 * nr + 1, sizeof(*cover->pieces));
	if (!cover->pieces)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		const struct symbol_span *span = &pieces[i].span;

		if (span->start < at || span->end <= span->start)
			return -EINVAL;
		if (span->start > at)
			cover->pieces[cover->nr++] = (struct cover_piece){ at, COVER_NONE };
		cover->pieces[cover->nr++] =
			(struct cover_piece){ span->start, entry_index(table, &pieces[i]) };
		at = span->end;
	}
	if (at < UINT64_MAX || !cover->nr)
		cover->pieces[cover->nr++] = (struct cover_piece){ at, COVER_NONE };
	return 0;
}

/* Copies names at the end, into one block of memory that does not move. */
static int copy_entry_names(struct symbol_table *table)
{
	size_t i, length, bytes = 1;
	char *at;

	for (i = 0; i < table->nr; i++)
		bytes += strlen(table->entries[i].symbol.name) + 1;
	at = realloc(table->strings, bytes);
	if (!at)
		return -ENOMEM;
	table->strings = at;
	table->used = table->strings_room = bytes;
	*at++ = '\0';
	for (i = 0; i < table->nr; i++) {
		struct symbol_entry *entry = &table->entries[i];

		length = strlen(entry->symbol.name) + 1;
		memcpy(at, entry->symbol.name, length);
		entry->raw = (uint32_t)(at - table->strings);
		entry->symbol.name = at;
		at += length;
	}
	return 0;
}

struct symbol_table *symbol_table_of_pieces(const struct symbol_piece *pieces, size_t nr)
{
	struct symbol_table *table = symbol_table_new(SYMBOL_INNERMOST);

	if (table && !add_piece_entries(table, pieces, nr) && !cover_pieces(table, pieces, nr) &&
	    !copy_entry_names(table))
		return table;
	symbol_table_free(table);
	return NULL;
}

bool symbol_is_place(const struct symbol *symbol)
{
	return ((const struct symbol_entry *)symbol)->place;
}

const char *symbol_table_name(const struct symbol_table *table, const struct symbol *symbol)
{
	/*
	 * Demangle on demand: demangling a million unused names would take longest of all. Names of
	 * places are made on demand too, because a library without symbols has tens of thousands.
	 */
	struct symbol_entry *entry =
		&table->entries[(const struct symbol_entry *)symbol - table->entries];
	char *plain;

	if (!entry->looked_at) {
		plain = entry->place ? format_text("%s+0x%" PRIx64, entry->symbol.name,
						   entry->symbol.offset) :
				       demangle(entry->symbol.name);
		if (plain)
			entry->symbol.name = plain;
		entry->demangled = plain != NULL;
		entry->looked_at = true;
	}
	return entry->symbol.name;
}

static const struct symbol *entry_named(const struct symbol_table *table, size_t i)
{
	symbol_table_name(table, &table->entries[i].symbol);
	return &table->entries[i].symbol;
}

void symbol_table_span(const struct symbol_table *table, uint64_t offset,
		       struct symbol_span *result)
{
	const struct cover *cover = &table->cover;
	size_t i = cover_find(cover, offset);
	uint32_t symbol = cover->pieces[i].symbol;

	result->start = cover->pieces[i].start;
	result->end = i + 1 < cover->nr ? cover->pieces[i + 1].start : UINT64_MAX;
	result->symbol = symbol == COVER_NONE ? NULL : &table->entries[symbol].symbol;
}

const struct symbol *symbol_table_find(const struct symbol_table *table, uint64_t offset)
{
	struct symbol_span span;

	symbol_table_span(table, offset, &span);
	if (span.symbol)
		symbol_table_name(table, span.symbol);
	return span.symbol;
}

/*
 * "ns::f" finds "ns::f(int)" too, and "ns::f(int) [clone .isra.0]" if the compiler left only that,
 * but never its cold part, "ns::f(int) [clone .cold]"; operator() keeps its own parentheses.
 */
static bool matches_without_parameters(const char *plain, const char *name, bool clones)
{
	const size_t length = strlen(name);

	if (strncmp(plain, name, length) || plain[length] != '(')
		return false;
	return !strstr(plain + length, clones ? " [clone .cold" : " [clone ");
}

static const struct symbol *named_without_parameters(const struct symbol_table *table,
						     const char *name, bool clones)
{
	size_t i;

	for (i = 0; i < table->nr; i++) {
		if (*name && matches_without_parameters(entry_named(table, i)->name, name, clones))
			return entry_named(table, i);
	}
	return NULL;
}

const struct symbol *symbol_table_named(const struct symbol_table *table, const char *name)
{
	size_t i;

	for (i = 0; i < table->nr; i++) {
		if (*name && !table->entries[i].place &&
		    !strcmp(table->strings + table->entries[i].raw, name))
			return entry_named(table, i);
	}
	for (i = 0; i < table->nr; i++) {
		if (*name && !strcmp(entry_named(table, i)->name, name))
			return entry_named(table, i);
	}
	return named_without_parameters(table, name, false) ?:
		       named_without_parameters(table, name, true);
}
