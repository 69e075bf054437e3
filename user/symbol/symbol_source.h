/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SYMBOL_SOURCE_H
#define BPFPROFIL_SYMBOL_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/profile.h"
#include "symbol/symbol.h"

struct symbol_cache;

/* The files with an object's names. */
struct symbol_source_file {
	int fd; /* the file, or a perf map; -1: the kernel's list, or our own vdso */
	const char *root; /* see symbol_table_load_elf() */
	uint64_t limit; /* of a perf map: bytes to read */
	int places; /* a second perf map, or -1 */
};

/* Whether the names come from this process and the kernel alone. */
bool symbol_source_is_own(const struct profile_object *object);

/*
 * Loads the symbols of an object, by its kind, or finds them in the cache, which may be NULL and
 * may keep the table. -ESTALE: the file is not of the object's build. wanted NULL: all text; else
 * its room is set here.
 */
int symbol_source_load(const struct profile_object *object, const struct symbol_source_file *file,
		       struct symbol_cache *cache, struct symbol_wanted *wanted,
		       struct symbol_table **result, struct error *why);

/* Frees the table, unless the cache, which may be NULL, has it. */
void symbol_source_release(struct symbol_cache *cache, struct symbol_table *table);

#endif
