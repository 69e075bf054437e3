/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SYMBOL_CACHE_H
#define BPFPROFIL_SYMBOL_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"
#include "symbol/symbol.h"

/*
 * Keeps symbol tables from one profile to the next, for callers that resolve names every second. A
 * file is identified by device, inode and build id. It is read again if its size or time changed,
 * because a perf map grows while its process runs.
 */
struct symbol_cache;

/*
 * Limits the bytes of files' tables, because anybody may run any number of files. A table that does
 * not fit is read again for each profile. NULL: out of memory.
 */
enum { SYMBOL_CACHE_BYTES = 512 << 20 };
struct symbol_cache *symbol_cache_new(size_t bytes);
void symbol_cache_free(struct symbol_cache *cache); /* NULL is fine */

/*
 * Call once per profile, while no table is in use. Removes tables that the last SYMBOL_CACHE_AGE
 * profiles did not use.
 */
enum { SYMBOL_CACHE_AGE = 64 };
void symbol_cache_age(struct symbol_cache *cache);

/* The number of the current profile, from 1. */
uint64_t symbol_cache_profiles(const struct symbol_cache *cache);

/*
 * Finds the object's table, which was read from fd (-1: not from a file, but the kernel's or the
 * vdso's). True with *result NULL: the object has no table. The cache owns the table.
 */
bool symbol_cache_find(struct symbol_cache *cache, const struct profile_object *object, int fd,
		       struct symbol_table **result);

/*
 * Keeps a table, which may be NULL, unless it does not fit, or does not have all names of its file.
 * It may replace tables that this profile has not used. The kernel's table always stays. The caller
 * still owns a table that is not kept, see symbol_cache_has().
 */
void symbol_cache_add(struct symbol_cache *cache, const struct profile_object *object, int fd,
		      struct symbol_table *table);

/*
 * Removes a table that may be outdated, unless it was read for this profile. True: it was removed,
 * and the caller reads it again.
 */
bool symbol_cache_drop(struct symbol_cache *cache, const struct symbol_table *table);

/* The limit for a file's table, so that several fit. */
size_t symbol_cache_room(const struct symbol_cache *cache);

/* Whether a table belongs to the cache. */
bool symbol_cache_has(const struct symbol_cache *cache, const struct symbol_table *table);

#endif
