/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SYMBOL_H
#define BPFPROFIL_SYMBOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/profile.h"

/*
 * Names for places in text. Every offset here is in the object's own offsets: a file offset for
 * ELF files, an address for the kernel and for JIT text.
 */

/*
 * A function: [offset, offset + size). name is demangled, when it is first asked for, and belongs
 * to the table.
 */
struct symbol {
	uint64_t offset;
	uint64_t size;
	const char *name;
};

struct symbol_table; /* sorted; not for two threads at once */

/*
 * From .symtab, .dynsym, a separate debug file (build id, .gnu_debuglink) found under root
 * ("" for ours, "/proc/PID/root" for a container's), and .gnu_debugdata when liblzma is there.
 * An ELF file without any symbol gives an empty table, not an error.
 */
int symbol_table_load_elf(int fd, const char *path, const char *root, struct symbol_table **ret,
			  struct error *err);
int symbol_table_load_memory(const void *image, size_t size, struct symbol_table **ret,
			     struct error *err);

/*
 * A perf map, or a dump of just-in-time code. limit: of its bytes, as it may grow. places: a
 * second one, or -1.
 */
int symbol_table_load_perf_map(int fd, uint64_t limit, int places, struct symbol_table **ret,
			       struct error *err);
int symbol_table_load_kallsyms(const char *path, struct symbol_table **ret, struct error *err);
void symbol_table_free(struct symbol_table *table);

/*
 * The function that contains offset, or NULL. Of several the innermost, in a perf map the latest;
 * of aliases an exported one with few leading underscores.
 */
const struct symbol *symbol_table_find(const struct symbol_table *table, uint64_t offset);

/*
 * The function of a name, for --region OBJECT:SYMBOL: as the file has it, demangled, or demangled
 * without its parameters. Aliases are found too. The first in the text, when several match.
 */
const struct symbol *symbol_table_named(const struct symbol_table *table, const char *name);

/* A function as its compiler knows it. */
struct source_scope {
	const char *name; /* as the linker has it, before anything was appended; NULL: none */
	uint32_t line; /* where its source begins; 0: not known */
};

/*
 * Source lines of many offsets of one ELF file at once, offsets ascending. Strings belong to the
 * result. file and function are NULL where DWARF says nothing, each by itself. function is the
 * innermost inlined function, or the function itself. A file without DWARF has only such lines and
 * is no error. Ask for all at once: each call decodes the units it needs anew.
 */
struct source_line {
	const char *file;
	uint32_t line;
	uint32_t discriminator; /* of several places in the line, as the compiler numbers them */
	const char *function;
	const struct source_scope *scope; /* that function; NULL: DWARF has none */
	const struct source_line *caller; /* where it was inlined, and into what; NULL: it was not */
};

struct source_lines; /* owns the strings */
int source_lines_load(int fd, const char *path, const char *root, const uint64_t *offsets,
		      size_t nr, struct source_lines **ret, struct error *err);
const struct source_line *source_lines_at(const struct source_lines *lines, size_t i);
void source_lines_free(struct source_lines *lines);

/* The source name of a C++ or Rust symbol; the caller frees it. NULL: not mangled, or no memory. */
char *demangle(const char *name);

#endif
