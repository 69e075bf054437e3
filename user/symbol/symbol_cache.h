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
 * file is identified by its device, inode and build id, and read again if its size or time changed,
 * because a perf map grows while its process runs.
 */
struct symbol_cache;

/*
 * Keeps at most this many bytes of files' tables, because anybody may run any number of files; a
 * table that does not fit is read again for each profile. NULL: out of memory.
 */
enum { SYMBOL_CACHE_BYTES = 512 << 20 };
struct symbol_cache *symbol_cache_new(size_t bytes);
void symbol_cache_free(struct symbol_cache *cache); /* NULL is fine */

/*
 * Call once per profile, when no table is in use: removes tables that the last SYMBOL_CACHE_AGE
 * profiles did not ask for, and the one without room.
 */
enum { SYMBOL_CACHE_AGE = 64 };
void symbol_cache_age(struct symbol_cache *cache);

/* How many profiles it has served, and one: which one is being served. */
uint64_t symbol_cache_profiles(const struct symbol_cache *cache);

/*
 * Finds the object's table, which was read from fd (-1: not from a file, but the kernel's or the
 * vdso's). True with *result NULL: the object is known to have no table. The table belongs to the
 * cache.
 */
bool symbol_cache_find(struct symbol_cache *cache, const struct profile_object *object, int fd,
		       struct symbol_table **result);

/*
 * Takes over a table, which may be NULL. One that this profile has not asked for makes room. A table that
 * has none, or not all names of its file, stays only until the next one comes, or the next profile; the
 * kernel's always stays. -ENOMEM: the table still belongs to the caller.
 */
int symbol_cache_add(struct symbol_cache *cache, const struct profile_object *object, int fd,
		     struct symbol_table *table);

/* The most that a file's table may take, so that there is room for those of several. */
size_t symbol_cache_room(const struct symbol_cache *cache);

/* Whether a table belongs to the cache. */
bool symbol_cache_has(const struct symbol_cache *cache, const struct symbol_table *table);

#endif
