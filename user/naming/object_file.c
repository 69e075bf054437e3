// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "naming/object_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/opener.h"
#include "base/regular_file.h"
#include "base/util.h"
#include "naming/allowance.h"
#include "reader/reader.h"
#include "symbol/symbol_cache.h"
#include "symbol/symbol_source.h"

/* A missing file, another file, or a file that is not a program is normal. */
static bool is_worth_telling(int code)
{
	return code == -ENOMEM || code == -E2BIG || code == -EFBIG || code == -EIO ||
	       code == -ETIME || code == -EACCES;
}

/* This process reads the kernel's names, and those of our own vdso. */
static int load_own_symbols(const struct profile_object *object, const struct object_opener *opener,
			    const struct symbol_wanted *wanted, struct symbol_table **result,
			    struct error *why)
{
	const struct symbol_source_file file = { .fd = -1, .places = -1 };
	struct symbol_wanted copy = { 0 };

	if (wanted)
		copy = *wanted;
	return symbol_source_load(object, &file, opener->cache, &copy, result, why);
}

/* Opens the files for an object's names. The caller closes both descriptors in any case. */
static int begin_request(uint32_t id, const struct object_opener *opener, char root[PATH_MAX],
			 struct reader_symbols *request, struct error *why)
{
	const struct profile_object *object = request->object;
	int fd = -ENOENT;

	root[0] = '\0';
	if (object->kind != PROFILE_MEMORY)
		fd = opener->open(opener->ctx, id, root, PATH_MAX);
	if (fd == -ETIMEDOUT)
		return error_set(why, -EIO, "did not answer");
	if (fd == -ETIME)
		return error_set(why, fd, "not read in time");
	if (fd < 0)
		return error_errno(why, fd, "%.256s", object->path);
	request->file.fd = fd;
	request->file.path = object->path ? object->path : "";
	request->file.root = root;
	if (object->kind == PROFILE_JIT && opener->open_places)
		request->places = opener->open_places(opener->ctx, id, &request->limit);
	if (opener->cache)
		request->round = symbol_cache_profiles(opener->cache);
	return 0;
}

static void end_request(struct reader_symbols *request)
{
	close_fd(&request->file.fd);
	close_fd(&request->places);
}

static int load_file_symbols(const struct profile_object *object, uint32_t id,
			     const struct object_opener *opener, const struct symbol_wanted *wanted,
			     struct symbol_table **result, struct error *why)
{
	struct reader_symbols request = { .object = object,
					  .file.fd = -1,
					  .limit = UINT64_MAX,
					  .places = -1,
					  .wanted = wanted };
	struct allowance *allowance =
		object->kind == PROFILE_JIT && opener->code ? opener->code : opener->allowance;
	struct allowance_use use;
	char root[PATH_MAX];
	int ret = begin_request(id, opener, root, &request, why);

	if (!ret)
		ret = allowance_begin(allowance, request.file.fd, &use, why);
	if (!ret) {
		ret = reader_symbols(&request, result, why);
		allowance_end(allowance, &use);
	}
	end_request(&request);
	return ret;
}

int object_symbols_load(const struct profile_object *object, uint32_t id,
			const struct object_opener *opener, const struct symbol_wanted *wanted,
			struct symbol_table **result, struct error *why)
{
	struct symbol_table *table = NULL;
	int ret;

	if (!opener)
		ret = -ENOENT;
	else if (symbol_source_is_own(object))
		ret = load_own_symbols(object, opener, wanted, &table, why);
	else
		ret = load_file_symbols(object, id, opener, wanted, &table, why);
	*result = ret ? NULL : table;
	return is_worth_telling(ret) ? ret : 0;
}

void object_symbols_release(const struct object_opener *opener, struct symbol_table *table)
{
	symbol_source_release(opener ? opener->cache : NULL, table);
}

bool object_symbol_named(const struct profile_object *object, uint32_t id,
			 const struct object_opener *opener, const char *name,
			 struct symbol_range *result)
{
	struct reader_symbols request = { .object = object,
					  .file.fd = -1,
					  .limit = UINT64_MAX,
					  .places = -1 };
	struct symbol_table *table = NULL;
	const struct symbol *symbol;
	struct error ignored;
	char root[PATH_MAX];
	int ret;

	if (!opener)
		return false;
	if (symbol_source_is_own(object)) {
		ret = load_own_symbols(object, opener, NULL, &table, &ignored);
		symbol = ret ? NULL : symbol_table_named(table, name);
		if (symbol)
			*result = (struct symbol_range){ symbol->offset,
							 symbol->offset + symbol->size };
		object_symbols_release(opener, table);
		return symbol != NULL;
	}
	ret = begin_request(id, opener, root, &request, &ignored);
	if (!ret)
		ret = reader_symbol_named(&request, name, result, &ignored);
	end_request(&request);
	return !ret;
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

/* Without build ids, compare segments, because another build hardly has the same ones. */
static bool is_file_of_object(const struct elf_facts *facts, const struct profile_object *object)
{
	if (facts->build_id && object->build_id)
		return !strcmp(facts->build_id, object->build_id);
	if (facts->build_id || object->build_id || facts->nr_text != object->nr_text)
		return false;
	return !facts->nr_text ||
	       !memcmp(facts->text, object->text, facts->nr_text * sizeof(*facts->text));
}

static int check_file(int fd, const struct profile_object *object, struct error *why)
{
	struct elf_facts facts = { 0 };
	int ret = reader_facts(fd, &facts, why);

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

int object_lines_load(const struct reader_file *file, struct allowance *allowance,
		      const uint64_t *offsets, size_t nr, struct source_lines **result,
		      struct error *why)
{
	struct allowance_use use;
	int ret = allowance_begin(allowance, file->fd, &use, why);

	if (ret)
		return ret;
	ret = reader_lines(file, offsets, nr, result, why);
	allowance_end(allowance, &use);
	return ret;
}

/* A host has a few roots for each container. Ignore those beyond this number. */
#define ROOTS_MAX 256

/* Owners above this number are namespaces, not users. */
#define FAR_NAMESPACE (1ULL << 32)

struct roots {
	struct {
		dev_t device;
		ino_t inode;
	} seen[ROOTS_MAX];
	size_t nr;
};

/* Returns true the first time: processes of one container have the same root. */
static bool is_new_root(struct roots *roots, const char *path)
{
	cleanup_fd int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat root;
	size_t i;

	if (!regular_file_stat(fd, &root) || roots->nr == ROOTS_MAX)
		return false;
	for (i = 0; i < roots->nr; i++)
		if (roots->seen[i].device == root.st_dev && roots->seen[i].inode == root.st_ino)
			return false;
	roots->seen[roots->nr].device = root.st_dev;
	roots->seen[roots->nr++].inode = root.st_ino;
	return true;
}

/* Whether the process has another user namespace, whose maker could block us below its root. */
static bool is_far(uint64_t pid, uint64_t *owner)
{
	struct stat theirs, ours;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%" PRIu64 "/ns/user", pid);
	if (stat(path, &theirs) || stat("/proc/self/ns/user", &ours))
		return false;
	*owner = FAR_NAMESPACE | theirs.st_ino;
	return theirs.st_ino != ours.st_ino;
}

static bool root_has(uint64_t pid, const char *root, const struct profile_object *object)
{
	uint64_t owner;
	char far[96];
	int fd;

	snprintf(far, sizeof(far), "%s", root);
	if (is_far(pid, &owner))
		opener_root(owner, root, far, sizeof(far));
	fd = open_below(object, far, NULL);

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

	/* Our own root was searched before. */
	is_new_root(&roots, "/");
	while (proc && !found && (entry = readdir(proc))) {
		if (parse_u64(entry->d_name, &pid))
			continue;
		snprintf(root, root_size, "/proc/%" PRIu64 "/root", pid);
		found = is_new_root(&roots, root) && root_has(pid, root, object);
	}
	if (proc)
		closedir(proc);
	return found;
}
