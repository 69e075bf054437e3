/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SYMBOL_TABLE_H
#define BPFPROFIL_SYMBOL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "elf/elf_image.h"
#include "symbol/symbol.h"

/*
 * To build a table, call new, add symbols in any order, then finish. Until then, only add and free
 * may be called.
 */

/* Which of two overlapping symbols names a place. */
enum symbol_overlap {
	SYMBOL_INNERMOST, /* the one that starts last, for nested assembly routines */
	SYMBOL_LATEST, /* the one that was added last, for JIT text that was freed and reused */
};

/* Preference among aliases of one address. A sized symbol always comes before an unsized one. */
enum {
	SYMBOL_RANK_LOCAL = 0,
	SYMBOL_RANK_EXPORTED = 1,
	SYMBOL_RANK_FUNCTION = 2,
};

struct symbol_spec {
	uint64_t offset;
	uint64_t size; /* 0: it ends at the next symbol, or at limit */
	uint64_t limit; /* for size 0: its latest end, such as its section's */
	bool loose; /* its size is a guess; if it seems too long, it is cut */
	bool place; /* its name is its place, NAME+0xOFFSET; NAME is the same in the whole table */
	unsigned int rank;
	const char *name; /* copied; NULL: it only ends the previous symbol */
	size_t name_length; /* it may end before that, at a NUL, */
	bool versioned; /* or at an @ */
};

struct symbol_table *symbol_table_new(enum symbol_overlap overlap); /* NULL: out of memory */
int symbol_table_add(struct symbol_table *table, const struct symbol_spec *spec);
int symbol_table_finish(struct symbol_table *table);

/*
 * For a few places, builds a table that names them as the whole table would, without copying and
 * sorting other names. Symbols are added twice. After symbol_table_survey(), the first round only
 * counts. After symbol_table_select(), the second round keeps the symbols that the ranges need, or
 * all if they fit. wanted must exist until then.
 */
int symbol_table_survey(struct symbol_table *table, const struct symbol_wanted *wanted);
void symbol_table_select(struct symbol_table *table);

/*
 * A source whose symbols ascend by address without overlaps. Only the neighbours of wanted text are
 * read, because Go's and unwind tables have a hundred thousand. If they do not ascend, some names
 * are missing.
 */
struct symbol_source {
	const struct elf_image *image;
	const void *from; /* for add() and start() */
	size_t nr;
	bool places; /* all are places, see symbol_spec */
	uint64_t (*start)(const struct symbol_source *source, size_t i);
	int (*add)(struct symbol_table *table, const struct symbol_source *source, size_t i);
};

int symbol_table_add_sorted(struct symbol_table *table, const struct symbol_source *source);

/* Whether adding this symbol keeps its name. If not, the name need not be made. */
bool symbol_table_keeps(const struct symbol_table *table, const struct symbol_spec *spec);

/* Whether it has names for all places, not only for the wanted ones. */
bool symbol_table_is_whole(const struct symbol_table *table);

/*
 * Sets err to why a table could not be built; `of` names the file. -E2BIG: the file has more
 * symbols than the limit.
 */
int symbol_table_failure(int code, const char *of, struct error *err);

/* The memory of a finished table, without demangled names. */
size_t symbol_table_bytes(const struct symbol_table *table);

/* Text with one symbol, or none (symbol NULL). Its name may still be mangled. */
struct symbol_span {
	uint64_t start;
	uint64_t end;
	const struct symbol *symbol;
};

void symbol_table_span(const struct symbol_table *table, uint64_t offset,
		       struct symbol_span *result);

/*
 * Makes a table of some spans of another one, which ascend without overlaps. Names, as from
 * symbol_table_name(), are copied; place is from symbol_is_place(). NULL: out of memory, or the
 * order is wrong.
 */
struct symbol_piece {
	struct symbol_span span;
	struct symbol symbol;
	bool place;
};

struct symbol_table *symbol_table_of_pieces(const struct symbol_piece *pieces, size_t nr);

/*
 * Whether the symbol's name is only its place. The file may have a better name elsewhere, or none.
 */
bool symbol_is_place(const struct symbol *symbol);

/* The demangled name of a symbol of the table; the mangled one if there is no memory. */
const char *symbol_table_name(const struct symbol_table *table, const struct symbol *symbol);

/*
 * Parse lists of symbols with one symbol per line; the bytes may be anything. The first also parses
 * a dump, see symbol/jit_dump.h.
 */
int perf_map_parse(const char *text, size_t size, struct symbol_table **result, struct error *err);
int kallsyms_parse(const char *text, size_t size, struct symbol_table **result, struct error *err);

/* A line, or the rest of it. */
struct text_cursor {
	const char *at;
	const char *end;
};

bool text_next_line(struct text_cursor *text, struct text_cursor *line);

/*
 * Parses START SIZE NAME, with hexadecimal numbers and NAME up to the end of the line. False: the
 * line is different.
 */
bool perf_map_line(struct text_cursor *line, struct symbol_spec *spec);

#endif
