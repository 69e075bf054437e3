/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SYMBOL_H
#define BPFPROFIL_SYMBOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/profile.h"

/*
 * Names for places in text. All offsets are the object's: file offsets for ELF files, addresses for
 * the kernel and for JIT text.
 */

/* A function: [offset, offset + size). The table owns the name, and demangles it on first use. */
struct symbol {
	uint64_t offset;
	uint64_t size;
	const char *name;
};

struct symbol_table; /* sorted; for one thread at a time */

/*
 * If a file has names elsewhere, its nameless text has a row for each part of this size, counted
 * from the file's beginning, so that parts are the same in every run. Functions in assembly are
 * seldom longer. A single row would not show where the ticks are.
 */
enum { SYMBOL_PART = 4096 };

/* Text that needs names: [start, end). */
struct symbol_range {
	uint64_t start;
	uint64_t end;
};

/* Ascending and disjoint. A table that would exceed room bytes may omit names for other text. */
struct symbol_wanted {
	struct symbol_range *ranges;
	size_t nr;
	size_t room;
};

/*
 * Loads symbols from .symtab, .dynsym, .gnu_debugdata (if liblzma is installed), and a separate
 * debug file. That is found by build id or .gnu_debuglink below root: "" for this host,
 * "/proc/PID/root" for a container. A Go program without .symtab has names in its pclntab. An ELF
 * file without symbols gives an empty table, which is not an error. wanted NULL: all text. -ESTALE:
 * the file has another build id than this one; NULL: any.
 */
int symbol_table_load_elf(int fd, const char *path, const char *root, const char *build_id,
			  const struct symbol_wanted *wanted, struct symbol_table **result,
			  struct error *err);
int symbol_table_load_memory(const void *image, size_t size, const char *build_id,
			     struct symbol_table **result, struct error *err);

/*
 * Loads a perf map, or a dump of just-in-time code. limit: how many bytes to read, because it may
 * grow. places: a second map, or -1.
 */
int symbol_table_load_perf_map(int fd, uint64_t limit, int places, struct symbol_table **result,
			       struct error *err);
int symbol_table_load_kallsyms(const char *path, struct symbol_table **result, struct error *err);
void symbol_table_free(struct symbol_table *table);

/*
 * Returns the function that contains offset, or NULL. If there are several, it is the innermost, or
 * in a perf map the latest. Among aliases it is an exported one with few leading underscores.
 */
const struct symbol *symbol_table_find(const struct symbol_table *table, uint64_t offset);

/*
 * Finds a function by name, for --region OBJECT:SYMBOL. The name may be as in the file, demangled,
 * or demangled without parameters, and may be an alias. If several match, the first in the text
 * counts.
 */
const struct symbol *symbol_table_named(const struct symbol_table *table, const char *name);

/* A function as written in the source. */
struct source_scope {
	const char *name; /* the linker's name without suffixes; NULL: none */
	uint32_t line; /* its first line; 0: unknown */
};

/*
 * Looks up the source lines of many offsets of an ELF file at once. Offsets must ascend. The result
 * owns the strings. file and function are NULL if DWARF lacks them. function is the innermost
 * inlined function, or else the function itself. A file without DWARF has only empty lines, which
 * is not an error; a Go program gets files and lines from its pclntab. Look up all offsets in one
 * call, because each call decodes the units again.
 */
struct source_line {
	const char *file;
	uint32_t line;
	uint32_t discriminator; /* the compiler's number for a place on the line */
	const char *function;
	const struct source_scope *scope; /* of `function`; NULL: unknown */
	const struct source_line *caller; /* the call that was inlined here; NULL: not inlined */
};

struct source_lines; /* owns the strings */
int source_lines_load(int fd, const char *path, const char *root, const uint64_t *offsets,
		      size_t nr, struct source_lines **result, struct error *err);
const struct source_line *source_lines_at(const struct source_lines *lines, size_t i);
void source_lines_free(struct source_lines *lines);

/*
 * Returns the source name of a C++ or Rust symbol, which the caller frees. NULL: it is not mangled,
 * or there is no memory.
 */
char *demangle(const char *name);

#endif
