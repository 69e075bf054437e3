// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/symbol_source.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "elf/elf_image.h"
#include "symbol/symbol_cache.h"
#include "symbol/symbol_table.h"

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

/* Whether it is a symbol of the kernel itself. Those of modules and BPF end in " [NAME]". */
static bool is_core(const struct symbol_table *table, const struct symbol *symbol)
{
	const char *name = symbol ? symbol_table_name(table, symbol) : "";
	const size_t length = strlen(name);

	return length && name[length - 1] != ']';
}

/*
 * Whether some of the text may be a BPF program's. Nothing shows cheaply that one was loaded, and
 * an older table has another one's name there, or a module's. Modules are objects of their own.
 */
static bool may_be_bpf(const struct profile_object *object, const struct symbol_table *table,
		       const struct symbol_wanted *wanted)
{
	struct symbol_span span;
	uint64_t at;
	size_t i;

	if (object->kind != PROFILE_KERNEL || !table || !wanted ||
	    (object->path && strcmp(object->path, "[kernel]") != 0))
		return false;
	for (i = 0; i < wanted->nr; i++)
		for (at = wanted->ranges[i].start; at < wanted->ranges[i].end; at = span.end) {
			symbol_table_span(table, at, &span);
			if (!is_core(table, span.symbol))
				return true;
		}
	return false;
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
	if (cache && symbol_cache_find(cache, object, file->fd, result) &&
	    (!may_be_bpf(object, *result, wanted) || !symbol_cache_drop(cache, *result)))
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
