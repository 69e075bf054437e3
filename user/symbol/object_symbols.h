/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_OBJECT_SYMBOLS_H
#define BPFPROFIL_OBJECT_SYMBOLS_H

#include "symbol/functions.h"
#include "symbol/symbol.h"

/*
 * The symbols of one object of a profile, by its kind. *ret is NULL when it has none that we could
 * read, or the file is no longer the one that ran. No profile depends on that: the code tells only
 * whether somebody should hear of it, in the words of why (or NULL), as of a file that is broken, that
 * takes too much, or that there is no memory for. The caller gives the table back, which the opener's
 * cache may keep.
 */
int object_symbols_load(const struct profile_object *object, uint32_t id,
			const struct object_opener *opener, struct symbol_table **ret,
			struct error *why);
void object_symbols_release(const struct object_opener *opener, struct symbol_table *table);

#endif
