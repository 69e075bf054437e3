// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/object_symbols.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "symbol/vdso.h"

static bool is_other_build(const struct profile_object *object, const struct elf_facts *facts)
{
	return object->build_id && facts->build_id && strcmp(object->build_id, facts->build_id);
}

static int load_vdso(const struct profile_object *object, struct symbol_table **ret)
{
	size_t size;
	const void *image = vdso_image(&size);
	struct elf_facts facts;
	bool other;
	int code;

	if (!image)
		return -ENOENT;
	code = elf_facts_read_memory(image, size, &facts, NULL);
	if (code)
		return code;
	other = is_other_build(object, &facts);
	elf_facts_free(&facts);
	return other ? -ESTALE : symbol_table_load_memory(image, size, ret, NULL);
}

static int load_file(const struct profile_object *object, int fd, const char *root,
		     struct symbol_table **ret)
{
	struct elf_facts facts;
	bool other;
	int code;

	code = elf_facts_read(fd, &facts, NULL);
	if (code)
		return code;
	other = is_other_build(object, &facts);
	elf_facts_free(&facts);
	if (other)
		return -ESTALE;
	return symbol_table_load_elf(fd, object->path ? object->path : "", root, ret, NULL);
}

static bool is_vdso(const struct profile_object *object)
{
	return object->kind == PROFILE_FILE && object->path && !strcmp(object->path, "[vdso]");
}

static int load_by_opener(const struct profile_object *object, uint32_t id,
			  const struct object_opener *opener, struct symbol_table **ret)
{
	char root[PATH_MAX] = "";
	int fd, code;

	fd = opener->open(opener->ctx, id, root, sizeof(root));
	if (fd < 0)
		return fd;
	if (object->kind == PROFILE_JIT)
		code = symbol_table_load_perf_map(fd, ret, NULL);
	else
		code = load_file(object, fd, root, ret);
	close(fd);
	return code;
}

int object_symbols_load(const struct profile_object *object, uint32_t id,
			const struct object_opener *opener, struct symbol_table **ret)
{
	struct symbol_table *table = NULL;
	int code;

	if (!opener || object->kind == PROFILE_MEMORY)
		code = -ENOENT;
	else if (is_vdso(object))
		code = load_vdso(object, &table);
	else if (object->kind == PROFILE_KERNEL)
		code = symbol_table_load_kallsyms("/proc/kallsyms", &table, NULL);
	else
		code = load_by_opener(object, id, opener, &table);
	if (code == -ENOMEM)
		return code;
	*ret = code ? NULL : table;
	return 0;
}
