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
 * Builds a table: new, then add what the file has in any order, then finish. Between new and finish
 * only add and free may be called.
 */

/* Which of two overlapping symbols names a place. */
enum symbol_overlap {
	SYMBOL_INNERMOST, /* the one that starts last, for nested assembly routines */
	SYMBOL_LATEST, /* the one added last, for JIT text that was freed and reused */
};

/* Preference among aliases of one address; a sized symbol always comes before an unsized one. */
enum {
	SYMBOL_RANK_LOCAL = 0,
	SYMBOL_RANK_EXPORTED = 1,
	SYMBOL_RANK_FUNCTION = 2,
};

struct symbol_spec {
	uint64_t offset;
	uint64_t size; /* 0: it ends at the next symbol, or at limit */
	uint64_t limit; /* for size 0: its latest end, for instance its section's */
	bool loose; /* its size is only guessed, so one that seems too long is cut */
	bool place; /* its name only says where it is: NAME+0xOFFSET, with one NAME for all of a table */
	unsigned int rank;
	const char *name; /* copied; NULL: it only ends the symbol before it */
	size_t name_length; /* it may end before that at a NUL, */
	bool versioned; /* or at an @ */
};

struct symbol_table *symbol_table_new(enum symbol_overlap overlap); /* NULL: out of memory */
int symbol_table_add(struct symbol_table *table, const struct symbol_spec *spec);
int symbol_table_finish(struct symbol_table *table);

/*
 * A table of a few places has them named as the whole one would, and costs no copy of the other names
 * and no sorting. It takes two rounds of adding the same: the first, from symbol_table_survey() on, only
 * looks, and after symbol_table_select() the second keeps what the ranges need, or all if that is no more
 * than there is room for. wanted must stay until then.
 */
int symbol_table_survey(struct symbol_table *table, const struct symbol_wanted *wanted);
void symbol_table_select(struct symbol_table *table);

/*
 * A source whose symbols ascend by their addresses and do not overlap. Of such a one only the neighbours
 * of what is wanted are looked at, because Go's and unwinding tables have a hundred thousand. If they do
 * not ascend, some have no names.
 */
struct symbol_source {
	const struct elf_image *image;
	const void *from; /* add's and start's own */
	size_t nr;
	bool places; /* they are as symbol_spec says of place */
	uint64_t (*start)(const struct symbol_source *source, size_t i);
	int (*add)(struct symbol_table *table, const struct symbol_source *source, size_t i);
};

int symbol_table_add_sorted(struct symbol_table *table, const struct symbol_source *source);

/* Whether adding it keeps its name, which need not be made otherwise. */
bool symbol_table_keeps(const struct symbol_table *table, const struct symbol_spec *spec);

/* Whether it has names for all places, and not only for the wanted ones. */
bool symbol_table_is_whole(const struct symbol_table *table);

/*
 * Sets err to why a table could not be built, for messages about `of`. -E2BIG: the file has more
 * than a table may hold.
 */
int symbol_table_failure(int code, const char *of, struct error *err);

/* The memory of a finished table, without demangled names. */
size_t symbol_table_bytes(const struct symbol_table *table);

/* A stretch of text that one symbol names, or none (symbol NULL). Its name may still be mangled. */
struct symbol_span {
	uint64_t start;
	uint64_t end;
	const struct symbol *symbol;
};

void symbol_table_span(const struct symbol_table *table, uint64_t offset,
		       struct symbol_span *result);

/*
 * A table of some spans of another one, which ascend and do not overlap. Their symbols' names, which are as
 * symbol_table_name() returns them, are copied; place is what symbol_is_place() says. NULL: out of memory, or
 * the spans are in no order.
 */
struct symbol_piece {
	struct symbol_span span;
	struct symbol symbol;
	bool place;
};

struct symbol_table *symbol_table_of_pieces(const struct symbol_piece *pieces, size_t nr);

/*
 * Whether the symbol's name only says where it is, because the file has a better name elsewhere, or
 * none.
 */
bool symbol_is_place(const struct symbol *symbol);

/* The demangled name of a symbol of the table; the mangled one if there is no memory. */
const char *symbol_table_name(const struct symbol_table *table, const struct symbol *symbol);

/*
 * Parse symbol lists that are text, with one symbol a line; they take any bytes. The first also parses a
 * dump, see symbol/jit_dump.h.
 */
int perf_map_parse(const char *text, size_t size, struct symbol_table **result, struct error *err);
int kallsyms_parse(const char *text, size_t size, struct symbol_table **result, struct error *err);

/* A line, or what is left of it. */
struct text_cursor {
	const char *at;
	const char *end;
};

bool text_next_line(struct text_cursor *text, struct text_cursor *line);

/*
 * Parses START SIZE NAME, with numbers in hexadecimal and NAME to the end of the line. False: not
 * such a line.
 */
bool perf_map_line(struct text_cursor *line, struct symbol_spec *spec);

#endif
