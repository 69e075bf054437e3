// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/symbol_source.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "elf/elf_image.h"
#include "symbol/symbol_cache.h"

static bool is_vdso_object(const struct profile_object *object)
{
	return object->kind == PROFILE_FILE && object->path && !strcmp(object->path, "[vdso]");
}

bool symbol_source_is_own(const struct profile_object *object)
{
	return object->kind == PROFILE_KERNEL || is_vdso_object(object);
}

static int load_object_symbols(const struct profile_object *object,
			       const struct symbol_source_file *file,
			       const struct symbol_wanted *wanted, struct symbol_table **result,
			       struct error *why)
{
	const void *image;
	size_t size;

	if (object->kind == PROFILE_KERNEL)
		return symbol_table_load_kallsyms("/proc/kallsyms", result, why);
	if (object->kind == PROFILE_JIT)
		return symbol_table_load_perf_map(file->fd, UINT64_MAX, -1, result, why);
	if (file->fd >= 0)
		return symbol_table_load_elf(file->fd, object->path ? object->path : "", file->root,
					     object->build_id, wanted, result, why);
	image = vdso_image(&size);
	return image ? symbol_table_load_memory(image, size, object->build_id, result, why) :
		       -ENOENT;
}

/* Whether the file has grown since the profile was made. */
static bool has_grown(const struct symbol_source_file *file)
{
	struct stat st;

	return file->limit != UINT64_MAX && !fstat(file->fd, &st) &&
	       (uint64_t)st.st_size > file->limit;
}

int symbol_source_load(const struct profile_object *object, const struct symbol_source_file *file,
		       struct symbol_cache *cache, struct symbol_wanted *wanted,
		       struct symbol_table **result, struct error *why)
{
	int ret;

	*result = NULL;
	/* Read a perf map as it was when the profile was made, with the places of replaced code. */
	if (object->kind == PROFILE_JIT && (file->places >= 0 || has_grown(file)))
		return symbol_table_load_perf_map(file->fd, file->limit, file->places, result, why);
	if (cache && symbol_cache_find(cache, object, file->fd, result))
		return 0;
	if (wanted)
		wanted->room = cache ? symbol_cache_room(cache) : 0;
	ret = load_object_symbols(object, file, wanted, result, why);
	if (ret)
		*result = NULL;
	/* Do not cache a lack of memory, because it may pass. */
	if (cache && ret != -ENOMEM)
		symbol_cache_add(cache, object, file->fd, *result);
	return ret;
}

void symbol_source_release(struct symbol_cache *cache, struct symbol_table *table)
{
	if (!cache || !symbol_cache_has(cache, table))
		symbol_table_free(table);
}
