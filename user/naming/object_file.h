/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_OBJECT_FILE_H
#define BPFPROFIL_OBJECT_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "naming/functions.h"
#include "symbol/symbol.h"

/* An opener that opens each object at its own path below root; root "" is this host. */
struct path_opener {
	const struct profile *profile;
	const char *root;
};

/* paths must outlive the opener. */
struct object_opener path_opener(struct path_opener *paths);

/* The same, but opens only files that object_file_open() does. */
struct object_opener same_file_opener(struct path_opener *paths);

/*
 * Opens the ELF file of an object if it still is the one that ran, by its build id, or else by its
 * segments. Returns a descriptor; root is set as the opener sets it. -ESTALE: the file there is
 * another one.
 */
int object_file_open(const struct object_opener *opener, const struct profile_object *object,
		     uint32_t id, char *root, size_t root_size, struct error *why);

/* The same for the file at the object's own path on this host. */
int object_file_here(const struct profile_object *object, struct error *why);

/*
 * Looks for an object's file below the roots of running processes, such as those in containers.
 * Returns true with root, as "/proc/PID/root", if one of them has the file that ran.
 */
bool object_file_find_root(const struct profile_object *object, char *root, size_t root_size);

/*
 * Loads the symbols of one object of a profile, by its kind, for the places that are wanted. *result is
 * NULL if it has none that we could read, or if its file is no longer the one that ran. No profile fails
 * because of this: an error code only means that the user should be told of it, with the text in why (which
 * may be NULL), for instance that a file is broken, is too large, or that there is no memory for it. The
 * caller gives the table back; the opener's cache may keep it.
 */
int object_symbols_load(const struct profile_object *object, uint32_t id,
			const struct object_opener *opener, const struct symbol_wanted *wanted,
			struct symbol_table **result, struct error *why);
void object_symbols_release(const struct object_opener *opener, struct symbol_table *table);

/* Where the function with a name is, see symbol_table_named(). False: the object has none, or cannot be read. */
bool object_symbol_named(const struct profile_object *object, uint32_t id,
			 const struct object_opener *opener, const char *name,
			 struct symbol_range *result);

#endif
