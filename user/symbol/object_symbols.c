// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/object_symbols.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "base/util.h"
#include "elf/elf_image.h"
#include "symbol/allowance.h"
#include "symbol/symbol_cache.h"

static bool is_other_build(const struct profile_object *object, const struct elf_facts *facts)
{
	return object->build_id && facts->build_id && strcmp(object->build_id, facts->build_id);
}

static int load_vdso(const struct profile_object *object, struct symbol_table **result,
		     struct error *why)
{
	size_t size;
	const void *image = vdso_image(&size);
	struct elf_facts facts;
	bool other;
	int ret;

	if (!image)
		return -ENOENT;
	ret = elf_facts_read_memory(image, size, &facts, why);
	if (ret)
		return ret;
	other = is_other_build(object, &facts);
	elf_facts_free(&facts);
	return other ? -ESTALE : symbol_table_load_memory(image, size, result, why);
}

static int load_file_symbols(const struct profile_object *object, int fd, const char *root,
			     struct symbol_table **result, struct error *why)
{
	struct elf_facts facts;
	bool other;
	int ret;

	ret = elf_facts_read(fd, &facts, why);
	if (ret)
		return ret;
	other = is_other_build(object, &facts);
	elf_facts_free(&facts);
	if (other)
		return -ESTALE;
	return symbol_table_load_elf(fd, object->path ? object->path : "", root, result, why);
}

static bool is_vdso_object(const struct profile_object *object)
{
	return object->kind == PROFILE_FILE && object->path && !strcmp(object->path, "[vdso]");
}

/* Opens the file that the symbols are read from; sets *result to -1 if the opener has none. */
static int open_symbol_source(const struct profile_object *object, uint32_t id,
			      const struct object_opener *opener, char root[PATH_MAX], int *result)
{
	root[0] = '\0';
	*result = -1;
	if (object->kind == PROFILE_KERNEL || is_vdso_object(object))
		return 0;
	*result = opener->open(opener->ctx, id, root, PATH_MAX);
	return *result < 0 ? *result : 0;
}

static int load_object_symbols(const struct profile_object *object, int fd, const char *root,
			       struct symbol_table **result, struct error *why)
{
	if (object->kind == PROFILE_KERNEL)
		return symbol_table_load_kallsyms("/proc/kallsyms", result, why);
	if (object->kind == PROFILE_JIT)
		return symbol_table_load_perf_map(fd, UINT64_MAX, -1, result, why);
	return fd < 0 ? load_vdso(object, result, why) :
			load_file_symbols(object, fd, root, result, why);
}

/* Lack of memory is not remembered, because there may be memory next time. */
static int keep_in_cache(const struct profile_object *object, int fd, struct symbol_cache *cache,
			 int code, struct symbol_table **result, struct error *why)
{
	if (code == -ENOMEM || !cache)
		return code;
	if (!symbol_cache_add(cache, object, fd, *result))
		return code;
	symbol_table_free(*result);
	*result = NULL;
	return error_errno(why, -ENOMEM, "symbols");
}

static int load_cached(const struct profile_object *object, int fd, const char *root,
		       const struct object_opener *opener, struct symbol_table **result,
		       struct error *why)
{
	struct allowance_turn turn;
	int ret;

	if (opener->cache && symbol_cache_find(opener->cache, object, fd, result))
		return 0;
	ret = allowance_begin(opener->allowance, fd, &turn, why);
	if (ret)
		return ret;
	ret = load_object_symbols(object, fd, root, result, why);
	allowance_end(opener->allowance, &turn);
	if (ret)
		*result = NULL;
	return keep_in_cache(object, fd, opener->cache, ret, result, why);
}

/*
 * Loads a perf map as it was when the profile was made, and the places of code that has been
 * replaced.
 */
static int load_moved(int fd, uint64_t limit, int places, const struct object_opener *opener,
		      struct symbol_table **result, struct error *why)
{
	struct allowance_turn turn;
	int ret = allowance_begin(opener->allowance, fd, &turn, why);

	if (ret)
		return ret;
	ret = symbol_table_load_perf_map(fd, limit, places, result, why);
	allowance_end(opener->allowance, &turn);
	return ret;
}

/* Whether the file has grown since the profile was made. */
static bool has_grown(int fd, uint64_t limit)
{
	struct stat st;

	return limit != UINT64_MAX && !fstat(fd, &st) && (uint64_t)st.st_size > limit;
}

/* It is normal that there is no file, another file, or one that is no program. */
static bool is_worth_telling(int code)
{
	return code == -ENOMEM || code == -E2BIG || code == -EFBIG || code == -EIO;
}

int object_symbols_load(const struct profile_object *object, uint32_t id,
			const struct object_opener *opener, struct symbol_table **result,
			struct error *why)
{
	struct symbol_table *table = NULL;
	cleanup_fd int fd = -1, places = -1;
	uint64_t limit = UINT64_MAX;
	char root[PATH_MAX];
	int ret;

	if (!opener || object->kind == PROFILE_MEMORY)
		ret = -ENOENT;
	else
		ret = open_symbol_source(object, id, opener, root, &fd);
	if (object->kind == PROFILE_JIT && !ret && opener->open_places)
		places = opener->open_places(opener->ctx, id, &limit);
	if (ret)
		error_errno(why, ret, "%.256s", object->path);
	else if (places >= 0 || has_grown(fd, limit))
		ret = load_moved(fd, limit, places, opener, &table, why);
	else
		ret = load_cached(object, fd, root, opener, &table, why);
	*result = ret ? NULL : table;
	return is_worth_telling(ret) ? ret : 0;
}

void object_symbols_release(const struct object_opener *opener, struct symbol_table *table)
{
	if (!opener || !opener->cache || !symbol_cache_has(opener->cache, table))
		symbol_table_free(table);
}
