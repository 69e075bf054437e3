/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_OBJECT_FILE_H
#define BPFPROFIL_OBJECT_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "naming/functions.h"
#include "symbol/symbol.h"

struct allowance;
struct reader_file;

/* Opens each object at its own path below root; root "" is this host. */
struct path_opener {
	const struct profile *profile;
	const char *root;
};

/* paths must outlive the opener. */
struct object_opener path_opener(struct path_opener *paths);

/* Does the same, but only for files that object_file_open() accepts. */
struct object_opener same_file_opener(struct path_opener *paths);

/*
 * Opens the ELF file of an object if it is still the one that ran, by its build id, or else by its
 * segments. Returns a descriptor; the opener sets root. -ESTALE: the file has changed.
 */
int object_file_open(const struct object_opener *opener, const struct profile_object *object,
		     uint32_t id, char *root, size_t root_size, struct error *why);

/* Does the same for the file at the object's own path on this host. */
int object_file_here(const struct profile_object *object, struct error *why);

/*
 * Reads the source lines of a file within the allowance of its owner: see reader_lines(). allowance
 * NULL: no limit.
 */
int object_lines_load(const struct reader_file *file, struct allowance *allowance,
		      const uint64_t *offsets, size_t nr, struct source_lines **result,
		      struct error *why);

/*
 * Searches an object's file below the roots of running processes, such as those of containers. If
 * one of them has the file that ran, returns true with root, as "/proc/PID/root".
 */
bool object_file_find_root(const struct profile_object *object, char *root, size_t root_size);

/*
 * Loads the symbols of an object, by its kind, for the wanted places. *result is NULL if there are
 * none that we could read, or if the file has changed. A profile never fails because of this. An
 * error code means that the user should see the text in why (which may be NULL), for example that a
 * file is broken or too large. The caller releases the table; the opener's cache may keep it.
 */
int object_symbols_load(const struct profile_object *object, uint32_t id,
			const struct object_opener *opener, const struct symbol_wanted *wanted,
			struct symbol_table **result, struct error *why);
void object_symbols_release(const struct object_opener *opener, struct symbol_table *table);

/*
 * The place of the function with a name, see symbol_table_named(). False: the object has no such
 * function, or cannot be read.
 */
bool object_symbol_named(const struct profile_object *object, uint32_t id,
			 const struct object_opener *opener, const char *name,
			 struct symbol_range *result);

#endif
