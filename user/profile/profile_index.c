// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "profile/profile_index.h"

#include <stdlib.h>

#include "base/util.h"

struct profile_index {
	size_t nr;
	const struct profile_function *functions[]; /* sorted by object, then offset */
};

static int compare_places_in_objects(uint32_t object_a, uint64_t offset_a, uint32_t object_b,
				     uint64_t offset_b)
{
	if (object_a != object_b)
		return object_a < object_b ? -1 : 1;
	if (offset_a != offset_b)
		return offset_a < offset_b ? -1 : 1;
	return 0;
}

static int compare_indexed_functions(const void *a, const void *b)
{
	const struct profile_function *x = *(const struct profile_function *const *)a;
	const struct profile_function *y = *(const struct profile_function *const *)b;
	int order = compare_places_in_objects(x->object, x->offset, y->object, y->offset);

	/*
	 * Of two functions with the same start the longer comes first, so that the search finds the
	 * shorter.
	 */
	if (!order && x->size != y->size)
		order = x->size > y->size ? -1 : 1;
	if (!order)
		order = x < y ? -1 : x > y;
	return order;
}

struct profile_index *profile_index_new(const struct profile *profile)
{
	struct profile_index *index;
	size_t i;

	index = malloc(sizeof(*index) + profile->nr_functions * sizeof(index->functions[0]));
	if (!index)
		return NULL;
	index->nr = profile->nr_functions;
	for (i = 0; i < index->nr; i++)
		index->functions[i] = &profile->functions[i];
	qsort(index->functions, index->nr, sizeof(index->functions[0]), compare_indexed_functions);
	return index;
}

void profile_index_free(struct profile_index *index)
{
	free(index);
}

/* How many functions begin at or before the place. */
static size_t count_before(const struct profile_index *index, uint32_t object, uint64_t offset)
{
	const struct profile_function *const *functions = index->functions;

	return BISECT(i, index->nr,
		      compare_places_in_objects(functions[i]->object, functions[i]->offset, object,
						offset) <= 0);
}

const struct profile_function *profile_index_find(const struct profile_index *index,
						  uint32_t object, uint64_t offset, uint64_t size)
{
	size_t after = count_before(index, object, offset);
	const struct profile_function *f;

	if (after) {
		f = index->functions[after - 1];
		if (f->object == object && offset - f->offset < f->size)
			return f;
	}
	if (after < index->nr) {
		f = index->functions[after];
		if (f->object == object && f->offset - offset < size)
			return f;
	}
	return NULL;
}
