/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_OBJECT_SYMBOLS_H
#define BPFPROFIL_OBJECT_SYMBOLS_H

#include "symbol/functions.h"
#include "symbol/symbol.h"

/*
 * Loads the symbols of one object of a profile, by its kind. *result is NULL if it has none that we
 * could read, or if its file is no longer the one that ran. No profile fails because of this: an
 * error code only means that the user should be told of it, with the text in why (which may be
 * NULL), for instance that a file is broken, is too large, or that there is no memory for it. The
 * caller gives the table back; the opener's cache may keep it.
 */
int object_symbols_load(const struct profile_object *object, uint32_t id,
			const struct object_opener *opener, struct symbol_table **result,
			struct error *why);
void object_symbols_release(const struct object_opener *opener, struct symbol_table *table);

#endif
