// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "profile/profile_append.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* An array of one profile that is appended to the other's. */
struct list {
	void *to; /* where the pointer to the array is, of whatever type */
	size_t *to_nr;
	void *from;
	size_t *from_nr;
	size_t size;
};

#define LIST(member)                                                                               \
	{                                                                                          \
		&profile->member, &profile->nr_##member, &other->member, &other->nr_##member,      \
			sizeof(*profile->member)                                                   \
	}

static void *pointer_at(const void *place)
{
	void *pointer;

	memcpy(&pointer, place, sizeof(pointer));
	return pointer;
}

static int extend_list(const struct list *list)
{
	void *grown =
		reallocarray(pointer_at(list->to), *list->to_nr + *list->from_nr + 1, list->size);

	if (!grown)
		return -ENOMEM;
	memcpy(list->to, &grown, sizeof(grown));
	return 0;
}

static void move_list(const struct list *list)
{
	void *from = pointer_at(list->from), *none = NULL;

	if (*list->from_nr)
		memcpy((char *)pointer_at(list->to) + *list->to_nr * list->size, from,
		       *list->from_nr * list->size);
	*list->to_nr += *list->from_nr;
	free(from);
	memcpy(list->from, &none, sizeof(none));
	*list->from_nr = 0;
}

static void renumber_appended(struct profile *profile, uint32_t targets, uint32_t objects)
{
	size_t i;

	for (i = 0; i < profile->nr_histograms; i++) {
		profile->histograms[i].target += targets;
		profile->histograms[i].object += objects;
	}
	for (i = 0; i < profile->nr_splits; i++)
		profile->splits[i].target += targets;
	for (i = 0; i < profile->nr_functions; i++)
		profile->functions[i].object += objects;
}

int profile_append(struct profile *profile, struct profile *other)
{
	const struct list lists[] = { LIST(targets),	LIST(splits),	 LIST(objects),
				      LIST(histograms), LIST(functions), LIST(notes),
				      LIST(labels),	LIST(hosts) };
	size_t i;

	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		if (extend_list(&lists[i]))
			return -ENOMEM;
	renumber_appended(other, (uint32_t)profile->nr_targets, (uint32_t)profile->nr_objects);
	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		move_list(&lists[i]);
	return 0;
}
