/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SYMBOL_CACHE_H
#define BPFPROFIL_SYMBOL_CACHE_H

#include <stdbool.h>
#include <stddef.h>

#include "profile/profile.h"
#include "symbol/symbol.h"

/*
 * Symbol tables kept from one profile to the next, for who names one every second. A file is known
 * again by its device, inode and build id, and read anew when its size or time differ: a perf map
 * grows while its process runs.
 */
struct symbol_cache;

/*
 * Keeps no more than so many bytes of files' tables, as anybody may run any number of files; one that
 * is beyond them is read anew for each profile. NULL: out of memory.
 */
enum { SYMBOL_CACHE_BYTES = 512 << 20 };
struct symbol_cache *symbol_cache_new(size_t bytes);
void symbol_cache_free(struct symbol_cache *cache); /* NULL is fine */

/* Once per profile: a table that was not asked for in SYMBOL_CACHE_AGE of them goes. */
enum { SYMBOL_CACHE_AGE = 64 };
void symbol_cache_age(struct symbol_cache *cache);

/*
 * The object's table, read from fd before (-1: of no file, the kernel's or the vdso). True also for
 * one that is known to have none: *ret is then NULL. The table is the cache's.
 */
bool symbol_cache_find(struct symbol_cache *cache, const struct profile_object *object, int fd,
		       struct symbol_table **ret);

/*
 * Takes a table, which may be NULL, in. One that there is no room to keep is there until the next
 * comes; the kernel's always stays. -ENOMEM: it is the caller's still.
 */
int symbol_cache_add(struct symbol_cache *cache, const struct profile_object *object, int fd,
		     struct symbol_table *table);

/* Whether a table is the cache's. */
bool symbol_cache_has(const struct symbol_cache *cache, const struct symbol_table *table);

#endif
