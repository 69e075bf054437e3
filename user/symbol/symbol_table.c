// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/symbol_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "elf/elf_check.h"
#include "symbol/symbol.h"
#include "symbol/symbol_cover.h"

/*
 * Limits of a table: 4,194,304 symbols take some 500 MiB, plus their names. This is more than any
 * program has, and less than a profiling host can spare.
 */
#define TABLE_SYMBOLS_MAX ELF_SYMBOLS_MAX
#define TABLE_NAMES_MAX (256UL << 20)
#define CUT "..."

/*
 * An unsized symbol with a longer gap to the next one is followed by text whose symbols are
 * missing, because functions in assembly are shorter (the longest of OpenSSL have 11 KiB). Then it
 * is assumed to have LOOSE_GUESS bytes, which most functions do not exceed.
 */
#define LOOSE_MAX (16UL << 10)
#define LOOSE_GUESS (4UL << 10)

struct symbol_entry {
	struct symbol symbol; /* first, so that a struct symbol can be cast to its entry */
	uint64_t limit;
	size_t raw; /* offset in strings of the name as in the file */
	uint32_t length; /* of that name */
	uint32_t rank;
	uint32_t order;
	bool loose; /* see struct symbol_spec */
	bool place;
	bool demangled; /* symbol.name must be freed */
	bool looked_at; /* demangling was tried */
};

/*
 * The value of raw for an entry without a name, which only ends the one before it. Names begin
 * behind the first byte.
 */
#define NAMELESS 0

struct symbol_table {
	enum symbol_overlap overlap;
	struct symbol_entry *entries;
	size_t nr;
	size_t room;
	char *strings;
	size_t used;
	size_t strings_room;
	struct cover cover;
};

struct symbol_table *symbol_table_new(enum symbol_overlap overlap)
{
	struct symbol_table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	table->overlap = overlap;
	if (grow((void **)&table->strings, &table->strings_room, 1, 1)) {
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
	for (i = 0; i < table->nr; i++) {
		if (table->entries[i].demangled)
			free((char *)(uintptr_t)table->entries[i].symbol.name);
	}
	free(table->entries);
	free(table->strings);
	cover_free(&table->cover);
	free(table);
}

static int copy_name(struct symbol_table *table, const struct symbol_spec *spec,
		     struct symbol_entry *entry)
{
	bool cut = spec->name_length >= ELF_NAME_MAX;
	size_t length = cut ? ELF_NAME_MAX - 1 : spec->name_length;
	int ret;

	entry->raw = NAMELESS;
	if (!spec->name || !length)
		return 0;
	if (table->used + length >= TABLE_NAMES_MAX)
		return -E2BIG;
	ret = grow((void **)&table->strings, &table->strings_room, table->used + length + 1, 1);
	if (ret)
		return ret;
	entry->raw = table->used;
	entry->length = (uint32_t)length;
	memcpy(table->strings + table->used, spec->name, length);
	if (cut)
		memcpy(table->strings + table->used + length - strlen(CUT), CUT, strlen(CUT));
	table->used += length;
	table->strings[table->used++] = '\0';
	return 0;
}

int symbol_table_add(struct symbol_table *table, const struct symbol_spec *spec)
{
	struct symbol_entry *entry;
	int ret;

	if (table->nr >= TABLE_SYMBOLS_MAX)
		return -E2BIG;
	ret = grow((void **)&table->entries, &table->room, table->nr + 1, sizeof(*table->entries));
	if (ret)
		return ret;
	entry = &table->entries[table->nr];
	memset(entry, 0, sizeof(*entry));
	ret = copy_name(table, spec, entry);
	if (ret)
		return ret;
	entry->symbol.offset = spec->offset;
	entry->symbol.size = spec->size;
	if (entry->symbol.size > UINT64_MAX - spec->offset)
		entry->symbol.size = UINT64_MAX - spec->offset;
	entry->limit = spec->limit;
	entry->loose = spec->loose;
	entry->place = spec->place;
	entry->rank = spec->rank;
	entry->order = (uint32_t)table->nr++;
	return 0;
}

static uint64_t entry_end(const struct symbol_entry *entry)
{
	return entry->symbol.offset + entry->symbol.size;
}

/*
 * Few leading underscores come first: malloc is a better name than __libc_malloc, whatever the
 * binding.
 */
static int compare_entry_names(const struct symbol_entry *a, const struct symbol_entry *b)
{
	size_t under_a = strspn(a->symbol.name, "_"), under_b = strspn(b->symbol.name, "_");

	if (under_a != under_b)
		return under_a < under_b ? -1 : 1;
	if (a->length != b->length)
		return a->length < b->length ? -1 : 1;
	return strcmp(a->symbol.name, b->symbol.name);
}

/* Ascending; the best alias of an address comes first. */
static int compare_entries(const void *left, const void *right)
{
	const struct symbol_entry *a = left, *b = right;
	int order;

	if (a->symbol.offset != b->symbol.offset)
		return a->symbol.offset < b->symbol.offset ? -1 : 1;
	if (!a->symbol.size != !b->symbol.size)
		return a->symbol.size ? -1 : 1;
	if ((a->raw == NAMELESS) != (b->raw == NAMELESS))
		return a->raw == NAMELESS ? 1 : -1;
	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	order = compare_entry_names(a, b);
	if (order)
		return order;
	if (a->symbol.size != b->symbol.size)
		return a->symbol.size > b->symbol.size ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

static bool is_same_symbol(const struct symbol_entry *a, const struct symbol_entry *b)
{
	return a->symbol.offset == b->symbol.offset && a->symbol.size == b->symbol.size &&
	       !strcmp(a->symbol.name, b->symbol.name);
}

/*
 * Drops symbols that .symtab and .dynsym both have, and labels: an unsized symbol strictly inside a
 * sized one is a jump target in assembly, not a function.
 */
static void drop_redundant(struct symbol_table *table)
{
	uint64_t sized_end = 0;
	size_t i, kept = 0;

	for (i = 0; i < table->nr; i++) {
		const struct symbol_entry *entry = &table->entries[i];
		const struct symbol_entry *last = kept ? &table->entries[kept - 1] : NULL;

		if (table->overlap == SYMBOL_INNERMOST) {
			if (last && is_same_symbol(entry, last))
				continue;
			if (!entry->symbol.size && entry->symbol.offset < sized_end &&
			    !(last && last->symbol.size &&
			      last->symbol.offset == entry->symbol.offset))
				continue;
		}
		if (entry->symbol.size && entry_end(entry) > sized_end)
			sized_end = entry_end(entry);
		table->entries[kept++] = *entry;
	}
	table->nr = kept;
}

static uint64_t unsized_size(const struct symbol_entry *entry, uint64_t next)
{
	uint64_t end = entry->limit < next ? entry->limit : next;

	if (end <= entry->symbol.offset)
		return 0;
	if (entry->loose && end - entry->symbol.offset > LOOSE_MAX)
		return LOOSE_GUESS;
	return end - entry->symbol.offset;
}

/* An unsized symbol ends where the next one starts; an alias of a sized one gets the same size. */
static void extend_unsized(struct symbol_table *table)
{
	uint64_t next = UINT64_MAX;
	size_t i;

	for (i = 1; i < table->nr; i++) {
		const struct symbol_entry *first = &table->entries[i - 1];
		struct symbol_entry *alias = &table->entries[i];

		if (!alias->symbol.size && alias->symbol.offset == first->symbol.offset)
			alias->symbol.size = first->symbol.size;
	}
	for (i = table->nr; i--;) {
		struct symbol_entry *entry = &table->entries[i];

		if (!entry->symbol.size)
			entry->symbol.size = unsized_size(entry, next);
		if (!i || table->entries[i - 1].symbol.offset != entry->symbol.offset)
			next = entry->symbol.offset;
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
		const struct symbol_entry *entry = &table->entries[i];

		if (!entry->symbol.size)
			continue;
		intervals[nr].start = entry->symbol.offset;
		intervals[nr].end = entry_end(entry);
		intervals[nr].order = entry->order;
		intervals[nr].symbol = entry->raw == NAMELESS ? COVER_NONE : (uint32_t)i;
		nr++;
	}
	ret = cover_build(intervals, nr, table->overlap, &table->cover);
	free(intervals);
	return ret;
}

/* A table may be kept for long, and grow() leaves up to as much room as is used. */
static void *fit(void *array, size_t *room, size_t nr, size_t size)
{
	void *fitted = nr ? realloc(array, nr * size) : NULL;

	if (!fitted)
		return array;
	*room = nr;
	return fitted;
}

int symbol_table_finish(struct symbol_table *table)
{
	size_t i;

	table->strings = fit(table->strings, &table->strings_room, table->used, 1);
	for (i = 0; i < table->nr; i++)
		table->entries[i].symbol.name = table->strings + table->entries[i].raw;
	if (table->nr)
		qsort(table->entries, table->nr, sizeof(*table->entries), compare_entries);
	drop_redundant(table);
	table->entries = fit(table->entries, &table->room, table->nr, sizeof(*table->entries));
	if (table->overlap == SYMBOL_INNERMOST)
		extend_unsized(table);
	return build_cover(table);
}

size_t symbol_table_bytes(const struct symbol_table *table)
{
	return sizeof(*table) + table->room * sizeof(*table->entries) + table->strings_room +
	       table->cover.nr * sizeof(*table->cover.pieces);
}

int symbol_table_failure(int code, const char *of, struct error *err)
{
	if (code != -E2BIG)
		return error_errno(err, code, "symbols of %.256s", of);
	return error_set(err, code, "symbols of %.256s: more than %d, or %lu MiB of names", of,
			 TABLE_SYMBOLS_MAX, TABLE_NAMES_MAX >> 20);
}

bool symbol_is_place(const struct symbol *symbol)
{
	return ((const struct symbol_entry *)symbol)->place;
}

const char *symbol_table_name(const struct symbol_table *table, const struct symbol *symbol)
{
	/*
	 * A name is demangled on demand, because demangling a million names that nobody asks for
	 * would take longest of all.
	 */
	struct symbol_entry *entry =
		&table->entries[(const struct symbol_entry *)symbol - table->entries];
	char *plain;

	if (!entry->looked_at) {
		plain = demangle(entry->symbol.name);
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

/* "ns::f" finds "ns::f(int)" too; operator() keeps its own parentheses. */
static bool matches_without_parameters(const char *plain, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(plain, name, length) && plain[length] == '(';
}

const struct symbol *symbol_table_named(const struct symbol_table *table, const char *name)
{
	size_t i;

	for (i = 0; i < table->nr; i++) {
		if (*name && !strcmp(table->strings + table->entries[i].raw, name))
			return entry_named(table, i);
	}
	for (i = 0; i < table->nr; i++) {
		if (*name && !strcmp(entry_named(table, i)->name, name))
			return entry_named(table, i);
	}
	for (i = 0; i < table->nr; i++) {
		if (*name && matches_without_parameters(entry_named(table, i)->name, name))
			return entry_named(table, i);
	}
	return NULL;
}
