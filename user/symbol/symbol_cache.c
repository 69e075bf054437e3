// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/symbol_cache.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/regular_file.h"
#include "base/util.h"
#include "symbol/symbol_table.h"

/* A file's table may use this share of the limit. */
#define ROOM_SHARE 8

struct cached_table {
	enum profile_object_kind kind;
	char *build_id; /* NULL: none */
	struct stat file; /* all zero: not from a file */
	struct symbol_table *table;
	size_t bytes; /* size of the table */
	uint64_t made; /* number of the profile that it was read for */
	uint64_t used; /* and of the last one that used it */
};

struct symbol_cache {
	struct cached_table *entries;
	size_t nr;
	size_t capacity;
	uint64_t profiles;
	size_t limit; /* for tables of files */
	size_t bytes; /* of these */
};

struct symbol_cache *symbol_cache_new(size_t bytes)
{
	struct symbol_cache *cache = calloc(1, sizeof(*cache));

	if (cache)
		cache->limit = bytes;
	return cache;
}

static void drop_table(struct symbol_cache *cache, struct cached_table *entry)
{
	cache->bytes -= entry->bytes;
	free(entry->build_id);
	symbol_table_free(entry->table);
}

void symbol_cache_free(struct symbol_cache *cache)
{
	if (!cache)
		return;
	while (cache->nr)
		drop_table(cache, &cache->entries[--cache->nr]);
	free(cache->entries);
	free(cache);
}

void symbol_cache_age(struct symbol_cache *cache)
{
	size_t i, kept = 0;

	cache->profiles++;
	for (i = 0; i < cache->nr; i++) {
		if (cache->profiles - cache->entries[i].used > SYMBOL_CACHE_AGE)
			drop_table(cache, &cache->entries[i]);
		else
			cache->entries[kept++] = cache->entries[i];
	}
	cache->nr = kept;
}

uint64_t symbol_cache_profiles(const struct symbol_cache *cache)
{
	return cache->profiles + 1;
}

/*
 * The kernel's symbols change with its modules, and two lists of modules may have one size.
 * Therefore compare a hash. They also change with its BPF programs: see symbol_cache_drop().
 */
static off_t hash_modules(void)
{
	cleanup_file FILE *file = fopen("/proc/modules", "re");
	uint64_t hash = HASH_BEGIN;
	char text[4096];
	size_t size;

	while (file && (size = fread(text, 1, sizeof(text), file)))
		hash = hash_bytes(hash, text, size);
	return (off_t)hash;
}

/* Reads facts that change with the object's file, or with the kernel's symbols. */
static bool file_facts(const struct profile_object *object, int fd, struct stat *result)
{
	memset(result, 0, sizeof(*result));
	if (object->kind == PROFILE_KERNEL)
		result->st_size = hash_modules();
	return fd < 0 || !fstat(fd, result);
}

static bool is_of(const struct cached_table *entry, const struct profile_object *object,
		  const struct stat *file)
{
	return entry->kind == object->kind && entry->file.st_dev == file->st_dev &&
	       entry->file.st_ino == file->st_ino &&
	       !compare_text(entry->build_id, object->build_id);
}

bool symbol_cache_find(struct symbol_cache *cache, const struct profile_object *object, int fd,
		       struct symbol_table **result)
{
	struct cached_table *entry;
	struct stat file;
	size_t i;

	if (!file_facts(object, fd, &file))
		return false;
	for (i = 0; i < cache->nr; i++) {
		entry = &cache->entries[i];
		if (!is_of(entry, object, &file))
			continue;
		if (regular_file_is_same(&entry->file, &file)) {
			entry->used = cache->profiles;
			*result = entry->table;
			return true;
		}
		drop_table(cache, entry);
		*entry = cache->entries[--cache->nr];
		return false;
	}
	return false;
}

bool symbol_cache_drop(struct symbol_cache *cache, const struct symbol_table *table)
{
	struct cached_table *entry = cache->entries, *end = entry + cache->nr;

	while (entry < end && entry->table != table)
		entry++;
	if (entry == end || entry->made == cache->profiles)
		return false;
	drop_table(cache, entry);
	*entry = cache->entries[--cache->nr];
	return true;
}

static int make_entry(const struct symbol_cache *cache, const struct profile_object *object, int fd,
		      struct symbol_table *table, struct cached_table *result)
{
	*result = (struct cached_table){ .kind = object->kind,
					 .table = table,
					 .made = cache->profiles,
					 .used = cache->profiles };
	/* A file without facts matches no other. Therefore its table is always read again. */
	if (!file_facts(object, fd, &result->file))
		memset(&result->file, 0xff, sizeof(result->file));
	if (object->kind != PROFILE_KERNEL && table)
		result->bytes = symbol_table_bytes(table);
	if (!object->build_id)
		return 0;
	result->build_id = strdup(object->build_id);
	return result->build_id ? 0 : -ENOMEM;
}

size_t symbol_cache_room(const struct symbol_cache *cache)
{
	return cache->limit / ROOM_SHARE;
}

/*
 * Finds the least recently used table of a file, but none that this profile used. NULL: there is
 * none.
 */
static struct cached_table *find_oldest(const struct symbol_cache *cache)
{
	struct cached_table *oldest = NULL, *entry = cache->entries, *end = entry + cache->nr;

	for (; entry < end; entry++)
		if (entry->bytes && entry->used < cache->profiles &&
		    (!oldest || entry->used < oldest->used))
			oldest = entry;
	return oldest;
}

static bool make_room(struct symbol_cache *cache, size_t bytes)
{
	struct cached_table *oldest;

	while (bytes > cache->limit - cache->bytes) {
		oldest = find_oldest(cache);
		if (!oldest)
			return false;
		drop_table(cache, oldest);
		*oldest = cache->entries[--cache->nr];
	}
	return true;
}

void symbol_cache_add(struct symbol_cache *cache, const struct profile_object *object, int fd,
		      struct symbol_table *table)
{
	struct cached_table entry;

	if ((table && !symbol_table_is_whole(table)) ||
	    GROW(cache->entries, cache->capacity, cache->nr + 1) ||
	    make_entry(cache, object, fd, table, &entry))
		return;
	if (!make_room(cache, entry.bytes)) {
		free(entry.build_id);
		return;
	}
	cache->entries[cache->nr++] = entry;
	cache->bytes += entry.bytes;
}

bool symbol_cache_has(const struct symbol_cache *cache, const struct symbol_table *table)
{
	size_t i;

	for (i = 0; i < cache->nr; i++)
		if (cache->entries[i].table == table)
			return true;
	return false;
}
