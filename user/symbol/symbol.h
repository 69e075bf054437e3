/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SYMBOL_H
#define BPFPROFIL_SYMBOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/profile.h"

/*
 * Names for places in text. Every offset here is one of the object: a file offset for ELF files, an
 * address for the kernel and for JIT text.
 */

/*
 * A function: [offset, offset + size). Its name is demangled when first asked for and belongs to
 * the table.
 */
struct symbol {
	uint64_t offset;
	uint64_t size;
	const char *name;
};

struct symbol_table; /* sorted; one thread at a time */

/*
 * Text without names in a file that has others is a row for each part of this size, counted from the file's
 * beginning, so that a part is the same one in every run. A function in assembly is seldom longer, and one row for all
 * would say nothing of where the ticks are.
 */
enum { SYMBOL_PART = 4096 };

/* Text that names are wanted of: [start, end). */
struct symbol_range {
	uint64_t start;
	uint64_t end;
};

/* Ascending and disjoint. A table of more than room bytes need not have other names than theirs. */
struct symbol_wanted {
	struct symbol_range *ranges;
	size_t nr;
	size_t room;
};

/*
 * From .symtab, .dynsym, .gnu_debugdata if liblzma is installed, and a separate debug file, found
 * by build id or .gnu_debuglink under root: "" for this host, "/proc/PID/root" for a container; and
 * of a Go program without .symtab from its pclntab. An ELF file without symbols gives an empty table
 * and is no error. wanted NULL: of all places.
 */
int symbol_table_load_elf(int fd, const char *path, const char *root,
			  const struct symbol_wanted *wanted, struct symbol_table **result,
			  struct error *err);
int symbol_table_load_memory(const void *image, size_t size, struct symbol_table **result,
			     struct error *err);

/*
 * From a perf map, or a dump of just-in-time code. limit: how many of its bytes to read, because it
 * may grow. places: a second map, or -1.
 */
int symbol_table_load_perf_map(int fd, uint64_t limit, int places, struct symbol_table **result,
			       struct error *err);
int symbol_table_load_kallsyms(const char *path, struct symbol_table **result, struct error *err);
void symbol_table_free(struct symbol_table *table);

/*
 * The function that contains offset, or NULL. If there are several it is the innermost, or in a
 * perf map the latest; among aliases it is an exported one with few leading underscores.
 */
const struct symbol *symbol_table_find(const struct symbol_table *table, uint64_t offset);

/*
 * The function with a name, for --region OBJECT:SYMBOL. The name may be as in the file, demangled,
 * or demangled without parameters, and may be an alias. If several match, the first in the text.
 */
const struct symbol *symbol_table_named(const struct symbol_table *table, const char *name);

/* A function as the compiler knows it. */
struct source_scope {
	const char *name; /* as the linker has it, without suffixes; NULL: none */
	uint32_t line; /* where its source begins; 0: unknown */
};

/*
 * The source lines of many offsets of one ELF file at once; offsets ascend. Strings belong to the
 * result. file and function are each NULL where DWARF does not say them. function is the innermost
 * inlined function, or else the function itself. A file without DWARF has only such lines and is no
 * error; a Go program without it has the files and lines of its pclntab. All offsets should be asked
 * for at once, because each call decodes the units anew.
 */
struct source_line {
	const char *file;
	uint32_t line;
	uint32_t discriminator; /* tells places on one line apart, as the compiler numbers them */
	const char *function;
	const struct source_scope *scope; /* of `function`; NULL: DWARF has none */
	const struct source_line *caller; /* where it was inlined and into what; NULL: nowhere */
};

struct source_lines; /* owns the strings */
int source_lines_load(int fd, const char *path, const char *root, const uint64_t *offsets,
		      size_t nr, struct source_lines **result, struct error *err);
const struct source_line *source_lines_at(const struct source_lines *lines, size_t i);
void source_lines_free(struct source_lines *lines);

/*
 * The source name of a C++ or Rust symbol, which the caller frees. NULL: it is not mangled, or
 * there is no memory.
 */
char *demangle(const char *name);

#endif
