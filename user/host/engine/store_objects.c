// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "host/engine/jit_text.h"
#include "host/engine/store_impl.h"

/* --- texts of one object ---------------------------------------------------------------------- */

/*
 * A file is identified by its number on its device: its address in memory may change while it is
 * not pinned.
 */
static int compare_spaces(const struct space *a, const struct space *b)
{
	int order = compare_u64(a->kind, b->kind);

	if (a->kind != SPACE_FILE)
		order = order ?: compare_u64(a->a, b->a);
	order = order ?: compare_u64(a->b, b->b) ?: compare_u64(a->dev, b->dev);
	return order ?: compare_u64(a->generation, b->generation);
}

/* By object. Texts that were announced come first. */
static int compare_texts(const void *left, const void *right, void *context)
{
	const struct filling *filling = context;
	const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const struct store_text *texts = filling->store->texts;
	int order = compare_spaces(&texts[a].space, &texts[b].space);

	order = order ?: compare_u64(!filling->infos[a], !filling->infos[b]);
	return order ?: compare_u64(a, b);
}

int filling_find_likes(struct filling *filling)
{
	const struct store *store = filling->store;
	cleanup_free uint32_t *order = calloc(store->nr_texts + 1, sizeof(*order));
	uint32_t first = 0;
	size_t i;

	if (!order)
		return -ENOMEM;
	for (i = 0; i < store->nr_texts; i++) {
		order[i] = (uint32_t)i;
		filling->infos[i] = spaces_find(filling->names->spaces, &store->texts[i].space);
	}
	qsort_r(order, store->nr_texts, sizeof(*order), compare_texts, filling);
	for (i = 0; i < store->nr_texts; i++) {
		if (!i || compare_spaces(&store->texts[first].space, &store->texts[order[i]].space))
			first = order[i];
		filling->like[order[i]] = first;
	}
	return 0;
}

/* --- objects ---------------------------------------------------------------------------------- */

/* Adds an object without a description; NULL: out of memory. */
static struct profile_object *add_object(struct filling *filling, uint32_t source)
{
	struct profile *profile = filling->profile;
	struct seen_names *names = filling->names;
	const size_t nr = profile->nr_objects;

	if (GROW(profile->objects, filling->object_room, nr + 1) ||
	    GROW(names->sources, filling->source_room, nr + 1))
		return NULL;
	names->sources[nr] = source;
	profile->objects[nr] = (struct profile_object){ 0 };
	profile->nr_objects++;
	return &profile->objects[nr];
}

static int object_of_text(struct filling *filling, uint32_t text, uint32_t *result)
{
	const uint32_t like = filling->like[text];
	const struct space *space = &filling->store->texts[like].space;
	const struct space_info *info = filling->infos[like];
	uint32_t *object = &filling->objects[like], source = NO_SOURCE;
	struct profile_object *made;

	if (*object == NO_SOURCE) {
		if (info)
			source = (uint32_t)(info - filling->names->spaces->list);
		made = add_object(filling, source);
		if (!made || object_describe(space, info, made, filling->err))
			return -ENOMEM;
		filling->names->nr_nameless += !info && (space->kind == SPACE_FILE ||
							 (space->kind == SPACE_ANON && space->b));
		*object = (uint32_t)filling->profile->nr_objects - 1;
	}
	*result = *object;
	return 0;
}

static int object_of_kernel(struct filling *filling, uint64_t address, uint32_t *result)
{
	const struct kernel_modules *modules = filling->modules;
	const size_t module = kernel_modules_find(modules, address);
	uint32_t *object = &filling->kernel[module];
	struct profile_object *made;

	if (*object == NO_SOURCE) {
		made = add_object(filling, NO_SOURCE);
		if (!made)
			return -ENOMEM;
		made->kind = PROFILE_KERNEL;
		made->path = strdup(module < modules->nr ? modules->list[module].name : "[kernel]");
		if (!made->path)
			return -ENOMEM;
		*object = (uint32_t)filling->profile->nr_objects - 1;
	}
	*result = *object;
	return 0;
}

int filling_site(struct filling *filling, const struct store_node *node,
		 struct profile_site *result)
{
	const struct store_text *text = &filling->store->texts[node->text];
	const struct space_info *info = filling->infos[node->text];

	result->offset = place_offset(filling->store, node);
	if (text->space.kind == SPACE_KERNEL)
		return object_of_kernel(filling, result->offset, &result->object);
	if (info && info->jit)
		result->offset = jit_text_find_former(info->jit, text->version, result->offset);
	return object_of_text(filling, node->text, &result->object);
}

int filling_name_split(const struct filling *filling, uint64_t split, int64_t *pid, char **process,
		       char **cgroup)
{
	const struct seen_names *names = filling->names;

	*pid = -1;
	return split ? split_names_of(names->splits, names->split, split, pid, process, cgroup) : 0;
}
