// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "naming/object_file.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/regular_file.h"
#include "base/util.h"
#include "elf/elf_image.h"
#include "naming/allowance.h"
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
			     const struct symbol_wanted *wanted, struct symbol_table **result,
			     struct error *why)
{
	struct elf_facts facts;
	bool other;
	int ret = elf_facts_read(fd, &facts, why);

	if (ret)
		return ret;
	other = is_other_build(object, &facts);
	elf_facts_free(&facts);
	if (other)
		return -ESTALE;
	return symbol_table_load_elf(fd, object->path ? object->path : "", root, wanted, result,
				     why);
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
			       const struct symbol_wanted *wanted, struct symbol_table **result,
			       struct error *why)
{
	if (object->kind == PROFILE_KERNEL)
		return symbol_table_load_kallsyms("/proc/kallsyms", result, why);
	if (object->kind == PROFILE_JIT)
		return symbol_table_load_perf_map(fd, UINT64_MAX, -1, result, why);
	return fd < 0 ? load_vdso(object, result, why) :
			load_file_symbols(object, fd, root, wanted, result, why);
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
		       const struct object_opener *opener, struct symbol_wanted *wanted,
		       struct symbol_table **result, struct error *why)
{
	struct allowance_turn turn;
	int ret;

	if (opener->cache && symbol_cache_find(opener->cache, object, fd, result))
		return 0;
	ret = allowance_begin(opener->allowance, fd, &turn, why);
	if (ret)
		return ret;
	if (wanted && opener->cache)
		wanted->room = symbol_cache_room(opener->cache);
	ret = load_object_symbols(object, fd, root, wanted, result, why);
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
			const struct object_opener *opener, struct symbol_wanted *wanted,
			struct symbol_table **result, struct error *why)
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
		ret = load_cached(object, fd, root, opener, wanted, &table, why);
	*result = ret ? NULL : table;
	return is_worth_telling(ret) ? ret : 0;
}

void object_symbols_release(const struct object_opener *opener, struct symbol_table *table)
{
	if (!opener || !opener->cache || !symbol_cache_has(opener->cache, table))
		symbol_table_free(table);
}

static int open_path(void *ctx, uint32_t object, char *root, size_t root_size)
{
	const struct path_opener *paths = ctx;

	if ((size_t)snprintf(root, root_size, "%s", paths->root) >= root_size)
		return -ENAMETOOLONG;
	return regular_file_open(paths->root, paths->profile->objects[object].path, NULL);
}

struct object_opener path_opener(struct path_opener *paths)
{
	return (struct object_opener){ .open = open_path, .ctx = paths };
}

/* Without build ids the segments are compared, because another build hardly has the same ones. */
static bool is_file_of_object(const struct elf_facts *facts, const struct profile_object *object)
{
	size_t i;

	if (facts->build_id && object->build_id)
		return !strcmp(facts->build_id, object->build_id);
	if (facts->build_id || object->build_id || facts->nr_text != object->nr_text)
		return false;
	for (i = 0; i < facts->nr_text; i++) {
		if (facts->text[i].offset != object->text[i].offset ||
		    facts->text[i].address != object->text[i].address ||
		    facts->text[i].size != object->text[i].size)
			return false;
	}
	return true;
}

static int check_file(int fd, const struct profile_object *object, struct error *why)
{
	struct elf_facts facts = { 0 };
	int ret = elf_facts_read(fd, &facts, why);

	if (!ret && !is_file_of_object(&facts, object))
		ret = error_set(why, -ESTALE, "%.256s: not the file that was profiled",
				object->path);
	elf_facts_free(&facts);
	return ret;
}

int object_file_open(const struct object_opener *opener, const struct profile_object *object,
		     uint32_t id, char *root, size_t root_size, struct error *why)
{
	int fd, ret;

	*root = '\0';
	fd = opener->open(opener->ctx, id, root, root_size);
	if (fd < 0)
		return error_errno(why, fd, "%.256s", object->path);
	ret = check_file(fd, object, why);
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

static int open_same_file(void *ctx, uint32_t object, char *root, size_t root_size)
{
	struct path_opener *paths = ctx;
	const struct object_opener opener = path_opener(paths);
	struct error ignored;

	return object_file_open(&opener, &paths->profile->objects[object], object, root, root_size,
				&ignored);
}

struct object_opener same_file_opener(struct path_opener *paths)
{
	return (struct object_opener){ .open = open_same_file, .ctx = paths };
}

static int open_below(const struct profile_object *object, const char *root, struct error *why)
{
	const struct profile alone = { .objects = (struct profile_object *)object,
				       .nr_objects = 1 };
	struct path_opener paths = { &alone, root };
	const struct object_opener opener = path_opener(&paths);
	char opened[PATH_MAX];

	return object_file_open(&opener, object, 0, opened, sizeof(opened), why);
}

int object_file_here(const struct profile_object *object, struct error *why)
{
	return open_below(object, "", why);
}

/* A host has a few roots for each container; those beyond this number are not looked at. */
#define ROOTS_MAX 256

struct roots {
	struct {
		dev_t device;
		ino_t inode;
	} seen[ROOTS_MAX];
	size_t nr;
};

/* Returns true the first time, as processes of one container have the same root. */
static bool is_new_root(struct roots *roots, const char *path)
{
	struct stat root;
	size_t i;

	if (stat(path, &root) || roots->nr == ROOTS_MAX)
		return false;
	for (i = 0; i < roots->nr; i++)
		if (roots->seen[i].device == root.st_dev && roots->seen[i].inode == root.st_ino)
			return false;
	roots->seen[roots->nr].device = root.st_dev;
	roots->seen[roots->nr++].inode = root.st_ino;
	return true;
}

static bool root_has(const char *root, const struct profile_object *object)
{
	int fd = open_below(object, root, NULL);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

bool object_file_find_root(const struct profile_object *object, char *root, size_t root_size)
{
	struct roots roots = { .nr = 0 };
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	bool found = false;
	uint64_t pid;

	/* Our own root was looked at before. */
	is_new_root(&roots, "/");
	while (proc && !found && (entry = readdir(proc))) {
		if (parse_u64(entry->d_name, &pid))
			continue;
		snprintf(root, root_size, "/proc/%" PRIu64 "/root", pid);
		found = is_new_root(&roots, root) && root_has(root, object);
	}
	if (proc)
		closedir(proc);
	return found;
}
