/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SYMBOL_TABLE_H
#define BPFPROFIL_SYMBOL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/symbol.h"

/*
 * Building a table: new, add what the file says in any order, finish. Between new and finish only
 * add and free may be called.
 */

/* Which of two overlapping symbols names a place. */
enum symbol_overlap {
	SYMBOL_INNERMOST, /* the one that starts last: nested assembly routines */
	SYMBOL_LATEST, /* the one added last: JIT text that was freed and used again */
};

/* Preference among aliases of one address; a sized symbol comes before an unsized one anyway. */
enum {
	SYMBOL_RANK_LOCAL = 0,
	SYMBOL_RANK_EXPORTED = 1,
	SYMBOL_RANK_FUNCTION = 2,
};

struct symbol_spec {
	uint64_t offset;
	uint64_t size; /* 0: up to the next symbol, or to limit */
	uint64_t limit; /* for size 0: where it ends at the latest, as its section does */
	bool loose; /* nothing says so of the symbol itself: one that seems too long is not */
	bool place; /* its name is no more than where it lies */
	unsigned int rank;
	const char *name; /* copied; NULL ends the symbol before it and names nothing */
	size_t name_length;
};

struct symbol_table *symbol_table_new(enum symbol_overlap overlap); /* NULL: out of memory */
int symbol_table_add(struct symbol_table *table, const struct symbol_spec *spec);
int symbol_table_finish(struct symbol_table *table);

/* Says why one of them failed, in the words of its user; -E2BIG is more than a table may have. */
int symbol_table_failure(int code, const char *of, struct error *err);

/* What a finished table takes, but for the demangled names. */
size_t symbol_table_bytes(const struct symbol_table *table);

/* A stretch of text that one symbol names, or none (NULL). Its name may be mangled yet. */
struct symbol_span {
	uint64_t start;
	uint64_t end;
	const struct symbol *symbol;
};

void symbol_table_span(const struct symbol_table *table, uint64_t offset, struct symbol_span *ret);

/* Whether its name is only where it lies: the file has a better one elsewhere, or none. */
bool symbol_is_place(const struct symbol *symbol);

/* The demangled name of a symbol of the table; mangled when memory is out. */
const char *symbol_table_name(const struct symbol_table *table, const struct symbol *symbol);

#endif
