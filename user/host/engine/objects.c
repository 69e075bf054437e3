// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/engine/objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "elf/elf_image.h"

/* The kernel's dev_t has 12 bits of major and 20 of minor. */
#define KERNEL_MAJOR(dev) ((dev) >> 20)
#define KERNEL_MINOR(dev) ((dev)&0xfffff)

static char *unnamed_file(const struct space *space)
{
	char *name;

	if (asprintf(&name, "[file %u:%u %llu]", KERNEL_MAJOR(space->dev), KERNEL_MINOR(space->dev),
		     (unsigned long long)space->b) < 0)
		return NULL;
	return name;
}

static char *anon_name(const struct space *space, const struct space_info *info)
{
	char *name;

	if (!space->b)
		return strdup("[anon]");
	if (asprintf(&name, "[%s:%llu]", info ? info->comm : "anon", (unsigned long long)space->b) <
	    0)
		return NULL;
	return name;
}

static void take_facts(struct elf_facts *facts, struct profile_object *object)
{
	object->build_id = facts->build_id;
	object->text = facts->text;
	object->nr_text = facts->nr_text;
}

/*
 * Anybody may own the file, so it is no failure if it cannot be read; whoever looks for its names
 * says why.
 */
static void describe_file(const struct space_info *info, struct profile_object *object)
{
	struct elf_facts facts;

	if (info && info->fd >= 0 && !elf_facts_read(info->fd, &facts, NULL))
		take_facts(&facts, object);
}

static void describe_vdso(struct profile_object *object)
{
	struct elf_facts facts;
	size_t size;
	const void *image = vdso_image(&size);

	if (image && !elf_facts_read_memory(image, size, &facts, NULL))
		take_facts(&facts, object);
}

int object_describe(const struct space *space, const struct space_info *info,
		    struct profile_object *result, struct error *err)
{
	struct profile_object object = { .kind = PROFILE_FILE };

	switch (space->kind) {
	case SPACE_KERNEL:
		object.kind = PROFILE_KERNEL;
		object.path = strdup("[kernel]");
		break;
	case SPACE_ANON:
		object.kind = PROFILE_JIT;
		object.path = anon_name(space, info);
		break;
	case SPACE_VDSO:
		object.path = strdup("[vdso]");
		describe_vdso(&object);
		break;
	default:
		object.path = info && info->path ? strdup(info->path) : unnamed_file(space);
		describe_file(info, &object);
	}
	*result = object;
	return object.path ? 0 : error_no_memory(err, "objects");
}
